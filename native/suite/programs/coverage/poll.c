// poll, ppoll: wait for another thread's bytes; time-outs not before their time.
#include "../check.h"
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

static int ends[2];

static void *writer(void *unused) {
    for (int i = 0; i < 5; i++)
        CHECK(write(ends[1], "x", 1) == 1);
    CHECK(close(ends[1]) == 0);
    return NULL;
}

int main(void) {
    pthread_t thread;
    char byte;
    int bytes = 0;
    CHECK(pipe(ends) == 0);
    struct pollfd ready = {ends[0], POLLIN, 0};
    CHECK(poll(&ready, 1, 0) == 0);
    struct timespec until = from_now(CLOCK_MONOTONIC, 2), length = milliseconds(2);
    CHECK(poll(&ready, 1, 2) == 0 && has_come(CLOCK_MONOTONIC, until));
    until = from_now(CLOCK_MONOTONIC, 2);
    CHECK(ppoll(&ready, 1, &length, NULL) == 0 && has_come(CLOCK_MONOTONIC, until));
    CHECK(pthread_create(&thread, NULL, writer, NULL) == 0);
    for (;;) {
        CHECK(poll(&ready, 1, -1) == 1);
        if (!(ready.revents & POLLIN))
            break;
        CHECK(read(ends[0], &byte, 1) == 1 && byte == 'x');
        bytes++;
    }
    CHECK(ready.revents & POLLHUP && bytes == 5);
    CHECK(pthread_join(thread, NULL) == 0);
    puts("ok");
}
