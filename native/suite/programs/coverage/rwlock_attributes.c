// pthread_rwlockattr_*: what is set is what one gets; a lock that prefers writers still excludes and still ends.
#include "../check.h"
#include <pthread.h>

static pthread_rwlock_t lock;
static int counter;

static void *worker(void *unused) {
    for (int i = 0; i < 20; i++) {
        CHECK(pthread_rwlock_wrlock(&lock) == 0);
        counter++;
        CHECK(pthread_rwlock_unlock(&lock) == 0);
        CHECK(pthread_rwlock_rdlock(&lock) == 0);
        CHECK(counter > 0);
        CHECK(pthread_rwlock_unlock(&lock) == 0);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    pthread_rwlockattr_t attributes;
    int value;
    CHECK(pthread_rwlockattr_init(&attributes) == 0);
    CHECK(pthread_rwlockattr_getpshared(&attributes, &value) == 0 && value == PTHREAD_PROCESS_PRIVATE);
    CHECK(pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_rwlockattr_getpshared(&attributes, &value) == 0 && value == PTHREAD_PROCESS_SHARED);
    CHECK(pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP) == 0);
    CHECK(pthread_rwlockattr_getkind_np(&attributes, &value) == 0);
    CHECK(value == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    CHECK(pthread_rwlock_init(&lock, &attributes) == 0);
    CHECK(pthread_rwlockattr_destroy(&attributes) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(counter == 60);
    CHECK(pthread_rwlock_destroy(&lock) == 0);
    puts("ok");
}
