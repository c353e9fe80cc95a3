// pthread_cond_clockwait: time-outs on the clock that the call names.
#include "../check.h"
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;

static void *signaller(void *unused) {
    CHECK(pthread_mutex_lock(&mutex) == 0);
    ready = 1;
    CHECK(pthread_cond_broadcast(&changed) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    return NULL;
}

int main(void) {
    static const clockid_t clocks[2] = {CLOCK_MONOTONIC, CLOCK_REALTIME};
    pthread_t thread;
    CHECK(pthread_mutex_lock(&mutex) == 0);
    for (int i = 0; i < 2; i++) {
        struct timespec until = from_now(clocks[i], 2);
        int answer = 0;
        while (answer == 0)
            answer = pthread_cond_clockwait(&changed, &mutex, clocks[i], &until);
        CHECK(answer == ETIMEDOUT && has_come(clocks[i], until));
    }
    CHECK(pthread_create(&thread, NULL, signaller, NULL) == 0);
    while (!ready) {
        struct timespec until = from_now(CLOCK_MONOTONIC, 1000);
        int answer = pthread_cond_clockwait(&changed, &mutex, CLOCK_MONOTONIC, &until);
        CHECK(answer == 0 || (answer == ETIMEDOUT && has_come(CLOCK_MONOTONIC, until)));
    }
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    puts("ok");
}
