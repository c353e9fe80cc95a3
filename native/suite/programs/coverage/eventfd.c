// eventfd: counts, blocks while 0; with EFD_SEMAPHORE one at a time.
#include "../check.h"
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int sums, units;

static void *worker(void *unused) {
    for (int i = 0; i < 5; i++) {
        CHECK(eventfd_write(sums, 2) == 0);
        CHECK(eventfd_write(units, 1) == 0);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    eventfd_t value, total = 0;
    sums = eventfd(0, 0);
    units = eventfd(0, EFD_SEMAPHORE);
    CHECK(sums >= 0 && units >= 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 10; i++)
        CHECK(eventfd_read(units, &value) == 0 && value == 1);
    while (total < 20) {
        CHECK(read(sums, &value, sizeof value) == sizeof value);
        total += value;
    }
    CHECK(total == 20);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    puts("ok");
}
