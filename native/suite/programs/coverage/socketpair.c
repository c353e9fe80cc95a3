// socketpair, send, recv, sendmsg, recvmsg, sendto, recvfrom, shutdown: a conversation between threads, and a time-out by SO_RCVTIMEO.
#include "../check.h"
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int ends[2];

static void *answering(void *unused) {
    char text[16];
    long bytes;
    while ((bytes = recv(ends[1], text, sizeof text, 0)) > 0) {
        for (long i = 0; i < bytes; i++)
            text[i]++;
        CHECK(send(ends[1], text, bytes, 0) == bytes);
    }
    CHECK(bytes == 0);
    return NULL;
}

int main(void) {
    pthread_t thread;
    char text[16];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    CHECK(recv(ends[0], text, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
    struct timeval limit = {0, 2000}, none = {0, 0};
    CHECK(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    CHECK(recv(ends[0], text, 1, 0) == -1 && errno == EAGAIN);
    CHECK(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none) == 0);
    CHECK(pthread_create(&thread, NULL, answering, NULL) == 0);
    for (int i = 0; i < 5; i++) {
        CHECK(send(ends[0], "abc", 3, 0) == 3);
        CHECK(recv(ends[0], text, 3, MSG_WAITALL) == 3 && memcmp(text, "bcd", 3) == 0);
    }
    struct iovec part = {"xy", 2}, into = {text, 2};
    struct msghdr out = {.msg_iov = &part, .msg_iovlen = 1}, in = {.msg_iov = &into, .msg_iovlen = 1};
    CHECK(sendmsg(ends[0], &out, 0) == 2);
    CHECK(recvmsg(ends[0], &in, MSG_WAITALL) == 2 && memcmp(text, "yz", 2) == 0);
    CHECK(sendto(ends[0], "1", 1, 0, NULL, 0) == 1);
    CHECK(recvfrom(ends[0], text, 1, 0, NULL, NULL) == 1 && text[0] == '2');
    CHECK(shutdown(ends[0], SHUT_WR) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    puts("ok");
}
