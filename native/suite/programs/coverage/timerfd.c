// timerfd: a read waits for the expiry, while other threads go on.
#include "../check.h"
#include <pthread.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *worker(void *unused) {
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    uint64_t expiries;
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    CHECK(timer >= 0);
    struct itimerspec in_two = {.it_value = milliseconds(2)};
    CHECK(pthread_create(&thread, NULL, worker, NULL) == 0);
    CHECK(timerfd_settime(timer, 0, &in_two, NULL) == 0);
    CHECK(read(timer, &expiries, sizeof expiries) == sizeof expiries && expiries == 1);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(counter == 20);
    puts("ok");
}
