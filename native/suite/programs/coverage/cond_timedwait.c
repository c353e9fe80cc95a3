// pthread_cond_timedwait: a wait that nobody ends is ETIMEDOUT, not before its time, with the mutex held; a signal ends it.
#include "../check.h"
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;

static void *signaller(void *unused) {
    CHECK(pthread_mutex_lock(&mutex) == 0);
    ready = 1;
    CHECK(pthread_cond_signal(&changed) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    return NULL;
}

static void *prober(void *unused) {
    CHECK(pthread_mutex_trylock(&mutex) == EBUSY);
    return NULL;
}

int main(void) {
    pthread_t thread;
    int answer = 0;
    CHECK(pthread_mutex_lock(&mutex) == 0);
    struct timespec until = from_now(CLOCK_REALTIME, 2);
    while (answer == 0)
        answer = pthread_cond_timedwait(&changed, &mutex, &until);
    CHECK(answer == ETIMEDOUT && has_come(CLOCK_REALTIME, until));
    CHECK(pthread_create(&thread, NULL, prober, NULL) == 0 && pthread_join(thread, NULL) == 0);
    struct timespec past = {1, 0};
    do
        answer = pthread_cond_timedwait(&changed, &mutex, &past);
    while (answer == 0);
    CHECK(answer == ETIMEDOUT);

    CHECK(pthread_create(&thread, NULL, signaller, NULL) == 0);
    while (!ready) {
        until = from_now(CLOCK_REALTIME, 1000);
        answer = pthread_cond_timedwait(&changed, &mutex, &until);
        CHECK(answer == 0 || (answer == ETIMEDOUT && has_come(CLOCK_REALTIME, until)));
    }
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    puts("ok");
}
