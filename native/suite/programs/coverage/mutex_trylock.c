// pthread_mutex_trylock: EBUSY exactly while somebody holds the mutex, and exclusion when it succeeds.
#include "../check.h"
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *prober(void *expected) {
    CHECK(pthread_mutex_trylock(&mutex) == *(int *)expected);
    if (*(int *)expected == 0)
        CHECK(pthread_mutex_unlock(&mutex) == 0);
    return NULL;
}

static void probe(int expected) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, prober, &expected) == 0 && pthread_join(thread, NULL) == 0);
}

static void *worker(void *unused) {
    for (int i = 0; i < 20; i++) {
        int answer;
        while ((answer = pthread_mutex_trylock(&mutex)) != 0)
            CHECK(answer == EBUSY);
        counter++;
        CHECK(pthread_mutex_unlock(&mutex) == 0);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    probe(0);
    CHECK(pthread_mutex_lock(&mutex) == 0);
    CHECK(pthread_mutex_trylock(&mutex) == EBUSY);
    probe(EBUSY);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    probe(0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(counter == 40);
    puts("ok");
}
