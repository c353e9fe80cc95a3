// flock and fcntl's locks between threads that have opened a file twice: they block, and are handed on.
#include "../check.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <unistd.h>

static char path[] = "/tmp/threadbare-lock-XXXXXX";
static int counter;

static void *worker(void *unused) {
    int file = open(path, O_RDWR);
    CHECK(file >= 0);
    for (int i = 0; i < 5; i++) {
        CHECK(flock(file, LOCK_EX) == 0);
        __atomic_store_n(&counter, __atomic_load_n(&counter, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
        CHECK(flock(file, LOCK_UN) == 0);
        struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        CHECK(fcntl(file, F_OFD_SETLKW, &all) == 0);
        __atomic_store_n(&counter, __atomic_load_n(&counter, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
        all.l_type = F_UNLCK;
        CHECK(fcntl(file, F_OFD_SETLK, &all) == 0);
    }
    CHECK(close(file) == 0);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int file = mkstemp(path);
    CHECK(file >= 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(unlink(path) == 0);
    puts("ok");
}
