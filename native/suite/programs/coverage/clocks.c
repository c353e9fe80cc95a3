// clock_gettime, gettimeofday, time, timespec_get, clock_getres: never backwards, not even between threads, and in step with
// each other.
#include "../check.h"
#include <pthread.h>
#include <sys/time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long long last[2];

static long long nanoseconds(clockid_t clock) {
    struct timespec now;
    CHECK(clock_gettime(clock, &now) == 0);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void *worker(void *unused) {
    static const clockid_t clocks[2] = {CLOCK_MONOTONIC, CLOCK_REALTIME};
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&mutex);
        long long now = nanoseconds(clocks[i % 2]);
        CHECK(now >= last[i % 2]);
        last[i % 2] = now;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    struct timespec resolution, length = milliseconds(2);
    struct timeval day;
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(clock_getres(CLOCK_MONOTONIC, &resolution) == 0 && resolution.tv_sec == 0);
    long long steady = nanoseconds(CLOCK_MONOTONIC), real = nanoseconds(CLOCK_REALTIME);
    CHECK(gettimeofday(&day, NULL) == 0);
    CHECK(day.tv_sec * 1000000LL + day.tv_usec >= real / 1000);
    CHECK(time(NULL) >= real / 1000000000 - 1);
    CHECK(nanosleep(&length, NULL) == 0);
    CHECK(nanoseconds(CLOCK_MONOTONIC) >= steady + 2000000);
    CHECK(nanoseconds(CLOCK_REALTIME) >= real + 2000000);
    CHECK(nanoseconds(CLOCK_BOOTTIME) > 0 && nanoseconds(CLOCK_MONOTONIC_COARSE) > 0);
    puts("ok");
}
