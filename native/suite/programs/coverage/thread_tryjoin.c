// pthread_tryjoin_np, pthread_timedjoin_np, pthread_clockjoin_np: busy while the thread runs, time-outs not before their time.
#include "../check.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

static sem_t may_end;

static void *worker(void *number) {
    CHECK(sem_wait(&may_end) == 0);
    return number;
}

int main(void) {
    pthread_t threads[3];
    void *result;
    CHECK(sem_init(&may_end, 0, 0) == 0);
    for (intptr_t i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, (void *)i) == 0);
    CHECK(pthread_tryjoin_np(threads[0], &result) == EBUSY);
    struct timespec real = from_now(CLOCK_REALTIME, 2);
    CHECK(pthread_timedjoin_np(threads[1], &result, &real) == ETIMEDOUT);
    CHECK(has_come(CLOCK_REALTIME, real));
    struct timespec steady = from_now(CLOCK_MONOTONIC, 2);
    CHECK(pthread_clockjoin_np(threads[2], &result, CLOCK_MONOTONIC, &steady) == ETIMEDOUT);
    CHECK(has_come(CLOCK_MONOTONIC, steady));
    for (int i = 0; i < 3; i++)
        CHECK(sem_post(&may_end) == 0);
    int answer;
    while ((answer = pthread_tryjoin_np(threads[0], &result)) == EBUSY)
        continue;
    CHECK(answer == 0 && (intptr_t)result == 0);
    do {
        real = from_now(CLOCK_REALTIME, 1000);
        answer = pthread_timedjoin_np(threads[1], &result, &real);
        CHECK(answer == 0 || (answer == ETIMEDOUT && has_come(CLOCK_REALTIME, real)));
    } while (answer != 0);
    CHECK((intptr_t)result == 1);
    do {
        steady = from_now(CLOCK_MONOTONIC, 1000);
        answer = pthread_clockjoin_np(threads[2], &result, CLOCK_MONOTONIC, &steady);
        CHECK(answer == 0 || (answer == ETIMEDOUT && has_come(CLOCK_MONOTONIC, steady)));
    } while (answer != 0);
    CHECK((intptr_t)result == 2);
    puts("ok");
}
