// _Thread_local variables: each thread has its own, with its initial value.
#include "../check.h"
#include <pthread.h>
#include <sched.h>

static _Thread_local int mine = 5;
static _Thread_local int numbers[4];

static void *worker(void *argument) {
    int number = *(int *)argument;
    CHECK(mine == 5 && numbers[3] == 0);
    for (int i = 0; i < 20; i++) {
        mine += number;
        numbers[i % 4]++;
    }
    sched_yield();
    CHECK(mine == 5 + 20 * number && numbers[3] == 5);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    int names[3] = {1, 2, 3};
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, &names[i]) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(mine == 5);
    puts("ok");
}
