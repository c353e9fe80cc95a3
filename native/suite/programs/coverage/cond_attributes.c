// pthread_condattr_*: the clock that is set is that of timedwait; sharing between processes is kept.
#include "../check.h"
#include <pthread.h>

int main(void) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t changed;
    pthread_condattr_t attributes;
    clockid_t clock;
    int shared;
    CHECK(pthread_condattr_init(&attributes) == 0);
    CHECK(pthread_condattr_getclock(&attributes, &clock) == 0 && clock == CLOCK_REALTIME);
    CHECK(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0);
    CHECK(pthread_condattr_getclock(&attributes, &clock) == 0 && clock == CLOCK_MONOTONIC);
    CHECK(pthread_condattr_setclock(&attributes, CLOCK_PROCESS_CPUTIME_ID) == EINVAL);
    CHECK(pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_condattr_getpshared(&attributes, &shared) == 0 && shared == PTHREAD_PROCESS_SHARED);
    CHECK(pthread_cond_init(&changed, &attributes) == 0);
    CHECK(pthread_condattr_destroy(&attributes) == 0);
    CHECK(pthread_mutex_lock(&mutex) == 0);
    struct timespec until = from_now(CLOCK_MONOTONIC, 2);
    int answer = 0;
    while (answer == 0)
        answer = pthread_cond_timedwait(&changed, &mutex, &until);
    CHECK(answer == ETIMEDOUT && has_come(CLOCK_MONOTONIC, until));
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_cond_destroy(&changed) == 0);
    puts("ok");
}
