// nanosleep, usleep, sleep, clock_nanosleep (relative and absolute): not shorter than asked, and all threads sleep at once.
#include "../check.h"
#include <pthread.h>
#include <unistd.h>

static void *sleeper(void *argument) {
    struct timespec length = milliseconds(2), until;
    until = from_now(CLOCK_MONOTONIC, 2);
    CHECK(nanosleep(&length, NULL) == 0 && has_come(CLOCK_MONOTONIC, until));
    until = from_now(CLOCK_MONOTONIC, 2);
    CHECK(usleep(2000) == 0 && has_come(CLOCK_MONOTONIC, until));
    until = from_now(CLOCK_MONOTONIC, 2);
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &length, NULL) == 0 && has_come(CLOCK_MONOTONIC, until));
    until = from_now(CLOCK_MONOTONIC, 2);
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0);
    CHECK(has_come(CLOCK_MONOTONIC, until));
    until = from_now(CLOCK_REALTIME, 2);
    CHECK(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL) == 0);
    CHECK(has_come(CLOCK_REALTIME, until));
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, sleeper, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    struct timespec negative = {0, -1};
    CHECK(nanosleep(&negative, NULL) == -1 && errno == EINVAL);
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &negative, NULL) == EINVAL);
    CHECK(sleep(0) == 0);
#ifdef __THREADBARE__
    // In virtual time a long sleep costs nothing.
    struct timespec until = from_now(CLOCK_MONOTONIC, 3600 * 1000);
    CHECK(sleep(3600) == 0 && has_come(CLOCK_MONOTONIC, until));
#endif
    puts("ok");
}
