// epoll_create1, epoll_ctl, epoll_wait, epoll_pwait: wait for another thread's bytes; time-outs not before their time.
#include "../check.h"
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

static int ends[2][2];

static void *writer(void *argument) {
    int *pair = argument;
    for (int i = 0; i < 5; i++)
        CHECK(write(pair[1], "x", 1) == 1);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int counts[2] = {0, 0};
    char byte;
    int set = epoll_create1(EPOLL_CLOEXEC);
    CHECK(set >= 0);
    struct epoll_event event;
    for (int i = 0; i < 2; i++) {
        CHECK(pipe(ends[i]) == 0);
        struct epoll_event wanted = {.events = EPOLLIN, .data.u32 = i};
        CHECK(epoll_ctl(set, EPOLL_CTL_ADD, ends[i][0], &wanted) == 0);
    }
    struct timespec until = from_now(CLOCK_MONOTONIC, 2);
    CHECK(epoll_wait(set, &event, 1, 2) == 0 && has_come(CLOCK_MONOTONIC, until));
    CHECK(epoll_pwait(set, &event, 1, 0, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, writer, ends[i]) == 0);
    for (int i = 0; i < 10; i++) {
        CHECK(epoll_wait(set, &event, 1, -1) == 1 && event.events & EPOLLIN);
        CHECK(read(ends[event.data.u32][0], &byte, 1) == 1);
        counts[event.data.u32]++;
    }
    CHECK(counts[0] == 5 && counts[1] == 5);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    puts("ok");
}
