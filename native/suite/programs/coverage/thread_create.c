// pthread_create, pthread_join, pthread_self, pthread_equal: arguments and results arrive, and each thread has its own name.
#include "../check.h"
#include <pthread.h>

static pthread_t seen[4];

static void *worker(void *argument) {
    int number = *(int *)argument;
    seen[number] = pthread_self();
    *(int *)argument = number * number;
    return argument;
}

int main(void) {
    pthread_t threads[4];
    int numbers[4];
    for (int i = 0; i < 4; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, worker, &numbers[i]) == 0);
    }
    for (int i = 0; i < 4; i++) {
        void *result;
        CHECK(pthread_join(threads[i], &result) == 0);
        CHECK(result == &numbers[i] && numbers[i] == i * i);
        CHECK(pthread_equal(seen[i], threads[i]));
        CHECK(!pthread_equal(seen[i], pthread_self()));
    }
    for (int i = 1; i < 4; i++)
        CHECK(!pthread_equal(seen[i], seen[i - 1]));
    CHECK(pthread_equal(pthread_self(), pthread_self()));
    CHECK(pthread_join(pthread_self(), NULL) == EDEADLK);
    puts("ok");
}
