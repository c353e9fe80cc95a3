// pthread_mutex_clocklock: as timedlock, on the monotonic and the real-time clock; other clocks are EINVAL.
#include "../check.h"
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *late(void *unused) {
    static const clockid_t clocks[2] = {CLOCK_MONOTONIC, CLOCK_REALTIME};
    for (int i = 0; i < 2; i++) {
        struct timespec until = from_now(clocks[i], 2);
        CHECK(pthread_mutex_clocklock(&mutex, clocks[i], &until) == ETIMEDOUT);
        CHECK(has_come(clocks[i], until));
        CHECK(pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &until) == EINVAL);
    }
    return NULL;
}

static void *worker(void *unused) {
    for (int done = 0; done < 20;) {
        struct timespec until = from_now(CLOCK_MONOTONIC, 1000);
        int answer = pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until);
        CHECK(answer == 0 || (answer == ETIMEDOUT && has_come(CLOCK_MONOTONIC, until)));
        if (answer == 0) {
            counter++;
            done++;
            CHECK(pthread_mutex_unlock(&mutex) == 0);
        }
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    CHECK(pthread_mutex_lock(&mutex) == 0);
    CHECK(pthread_create(&threads[0], NULL, late, NULL) == 0 && pthread_join(threads[0], NULL) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(counter == 40);
    puts("ok");
}
