// pthread_rwlock_clockrdlock, clockwrlock: as the timed ones, on the clock that the call names.
#include "../check.h"
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int counter;

static void *late(void *unused) {
    static const clockid_t clocks[2] = {CLOCK_MONOTONIC, CLOCK_REALTIME};
    for (int i = 0; i < 2; i++) {
        struct timespec until = from_now(clocks[i], 1);
        CHECK(pthread_rwlock_clockrdlock(&lock, clocks[i], &until) == ETIMEDOUT && has_come(clocks[i], until));
        until = from_now(clocks[i], 1);
        CHECK(pthread_rwlock_clockwrlock(&lock, clocks[i], &until) == ETIMEDOUT && has_come(clocks[i], until));
    }
    return NULL;
}

static void *worker(void *unused) {
    for (int done = 0; done < 15;) {
        struct timespec until = from_now(CLOCK_MONOTONIC, 1000);
        int answer = pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &until);
        CHECK(answer == 0 || (answer == ETIMEDOUT && has_come(CLOCK_MONOTONIC, until)));
        if (answer == 0) {
            counter++;
            done++;
            CHECK(pthread_rwlock_unlock(&lock) == 0);
        }
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    CHECK(pthread_rwlock_wrlock(&lock) == 0);
    CHECK(pthread_create(&threads[0], NULL, late, NULL) == 0 && pthread_join(threads[0], NULL) == 0);
    CHECK(pthread_rwlock_unlock(&lock) == 0);
    struct timespec until = from_now(CLOCK_MONOTONIC, 1000);
    CHECK(pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &until) == 0);
    CHECK(pthread_rwlock_unlock(&lock) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(counter == 30);
    puts("ok");
}
