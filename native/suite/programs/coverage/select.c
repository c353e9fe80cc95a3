// select, pselect: wait for another thread's bytes; time-outs not before their time.
#include "../check.h"
#include <pthread.h>
#include <sys/select.h>
#include <unistd.h>

static int ends[2];

static void *writer(void *unused) {
    for (int i = 0; i < 5; i++)
        CHECK(write(ends[1], "x", 1) == 1);
    return NULL;
}

int main(void) {
    pthread_t thread;
    char byte;
    fd_set readable;
    CHECK(pipe(ends) == 0);
    FD_ZERO(&readable);
    FD_SET(ends[0], &readable);
    struct timespec until = from_now(CLOCK_MONOTONIC, 2), length = milliseconds(2);
    struct timeval short_time = {0, 2000};
    CHECK(select(ends[0] + 1, &readable, NULL, NULL, &short_time) == 0 && has_come(CLOCK_MONOTONIC, until));
    CHECK(!FD_ISSET(ends[0], &readable));
    FD_SET(ends[0], &readable);
    until = from_now(CLOCK_MONOTONIC, 2);
    CHECK(pselect(ends[0] + 1, &readable, NULL, NULL, &length, NULL) == 0 && has_come(CLOCK_MONOTONIC, until));
    CHECK(pthread_create(&thread, NULL, writer, NULL) == 0);
    for (int i = 0; i < 5; i++) {
        FD_ZERO(&readable);
        FD_SET(ends[0], &readable);
        CHECK(select(ends[0] + 1, &readable, NULL, NULL, NULL) == 1 && FD_ISSET(ends[0], &readable));
        CHECK(read(ends[0], &byte, 1) == 1);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    puts("ok");
}
