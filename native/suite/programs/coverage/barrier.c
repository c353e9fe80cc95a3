// pthread_barrier_*: nobody leaves a round before all have arrived, and each round has exactly one serial thread.
#include "../check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 10 };

static pthread_barrier_t barrier;
static int values[THREADS], serial[THREADS];

static void *worker(void *argument) {
    int me = (int)(size_t)argument;
    for (int round = 1; round <= ROUNDS; round++) {
        values[me] = round;
        int answer = pthread_barrier_wait(&barrier);
        CHECK(answer == 0 || answer == PTHREAD_BARRIER_SERIAL_THREAD);
        serial[me] += answer == PTHREAD_BARRIER_SERIAL_THREAD;
        for (int i = 0; i < THREADS; i++)
            CHECK(values[i] == round);
        answer = pthread_barrier_wait(&barrier);
        serial[me] += answer == PTHREAD_BARRIER_SERIAL_THREAD;
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    pthread_barrierattr_t attributes;
    int shared, total = 0;
    CHECK(pthread_barrierattr_init(&attributes) == 0);
    CHECK(pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_barrierattr_getpshared(&attributes, &shared) == 0 && shared == PTHREAD_PROCESS_SHARED);
    CHECK(pthread_barrier_init(&barrier, &attributes, 0) == EINVAL);
    CHECK(pthread_barrier_init(&barrier, &attributes, THREADS) == 0);
    CHECK(pthread_barrierattr_destroy(&attributes) == 0);
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        total += serial[i];
    }
    CHECK(total == 2 * ROUNDS);
    CHECK(pthread_barrier_destroy(&barrier) == 0);
    puts("ok");
}
