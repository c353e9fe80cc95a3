// pthread_mutex_timedlock: time-outs are ETIMEDOUT and not before their time; a free mutex is had whatever the time.
#include "../check.h"
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *late(void *unused) {
    struct timespec until = from_now(CLOCK_REALTIME, 2);
    CHECK(pthread_mutex_timedlock(&mutex, &until) == ETIMEDOUT);
    CHECK(has_come(CLOCK_REALTIME, until));
    struct timespec wrong = {until.tv_sec, 1000000000};
    CHECK(pthread_mutex_timedlock(&mutex, &wrong) == EINVAL);
    return NULL;
}

static void *worker(void *unused) {
    for (int done = 0; done < 20;) {
        struct timespec until = from_now(CLOCK_REALTIME, 1000);
        int answer = pthread_mutex_timedlock(&mutex, &until);
        CHECK(answer == 0 || (answer == ETIMEDOUT && has_come(CLOCK_REALTIME, until)));
        if (answer == 0) {
            counter++;
            done++;
            CHECK(pthread_mutex_unlock(&mutex) == 0);
        }
    }
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    struct timespec past = {1, 0};
    CHECK(pthread_mutex_timedlock(&mutex, &past) == 0);
    CHECK(pthread_create(&threads[0], NULL, late, NULL) == 0 && pthread_join(threads[0], NULL) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(counter == 60);
    puts("ok");
}
