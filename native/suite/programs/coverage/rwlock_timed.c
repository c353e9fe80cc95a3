// pthread_rwlock_timedrdlock, timedwrlock: ETIMEDOUT, not before the time; had at once when free.
#include "../check.h"
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int counter;

static void *late_writer(void *unused) {
    struct timespec until = from_now(CLOCK_REALTIME, 2);
    CHECK(pthread_rwlock_timedwrlock(&lock, &until) == ETIMEDOUT && has_come(CLOCK_REALTIME, until));
    return NULL;
}

static void *late_reader(void *unused) {
    struct timespec until = from_now(CLOCK_REALTIME, 2);
    CHECK(pthread_rwlock_timedrdlock(&lock, &until) == ETIMEDOUT && has_come(CLOCK_REALTIME, until));
    return late_writer(NULL);
}

static void *worker(void *unused) {
    for (int done = 0; done < 15;) {
        struct timespec until = from_now(CLOCK_REALTIME, 1000);
        int answer = pthread_rwlock_timedwrlock(&lock, &until);
        CHECK(answer == 0 || (answer == ETIMEDOUT && has_come(CLOCK_REALTIME, until)));
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
    struct timespec past = {1, 0};
    CHECK(pthread_rwlock_timedrdlock(&lock, &past) == 0);
    CHECK(pthread_create(&threads[0], NULL, late_writer, NULL) == 0 && pthread_join(threads[0], NULL) == 0);
    CHECK(pthread_rwlock_unlock(&lock) == 0);
    CHECK(pthread_rwlock_timedwrlock(&lock, &past) == 0);
    CHECK(pthread_create(&threads[0], NULL, late_reader, NULL) == 0 && pthread_join(threads[0], NULL) == 0);
    CHECK(pthread_rwlock_unlock(&lock) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(counter == 30);
    puts("ok");
}
