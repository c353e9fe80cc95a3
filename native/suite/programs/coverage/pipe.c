// read and write on a pipe between threads: a reader waits for bytes, a writer for room; the end of the file ends it.
#include "../check.h"
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static int forth[2], back[2];

static void *echo(void *unused) {
    char byte;
    while (read(forth[0], &byte, 1) == 1) {
        byte++;
        CHECK(write(back[1], &byte, 1) == 1);
    }
    CHECK(close(back[1]) == 0);
    return NULL;
}

static void *fill(void *unused) {
    static char block[16384];
    memset(block, 'x', sizeof block);
    for (int i = 0; i < 8; i++)
        CHECK(write(forth[1], block, sizeof block) == sizeof block);
    CHECK(close(forth[1]) == 0);
    return NULL;
}

int main(void) {
    pthread_t thread;
    char byte;
    CHECK(pipe(forth) == 0 && pipe(back) == 0);
    CHECK(pthread_create(&thread, NULL, echo, NULL) == 0);
    for (char sent = 'a'; sent <= 'j'; sent++) {
        CHECK(write(forth[1], &sent, 1) == 1);
        CHECK(read(back[0], &byte, 1) == 1 && byte == sent + 1);
    }
    CHECK(close(forth[1]) == 0);
    CHECK(read(back[0], &byte, 1) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(close(forth[0]) == 0 && close(back[0]) == 0);

    // More than fits into a pipe: the writer must wait.
    static char block[16384];
    char first[1000];
    struct iovec parts[2] = {{first, sizeof first}, {block, sizeof block}};
    long total = 0, got;
    CHECK(pipe2(forth, O_CLOEXEC) == 0);
    CHECK(pthread_create(&thread, NULL, fill, NULL) == 0);
    while ((got = readv(forth[0], parts, 2)) > 0)
        total += got;
    CHECK(got == 0 && total == 8 * 16384);
    CHECK(pthread_join(thread, NULL) == 0);
    puts("ok");
}
