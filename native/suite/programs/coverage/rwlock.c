// pthread_rwlock_init, rdlock, wrlock, unlock, destroy: writers are alone, readers may be together and see no half-done write.
#include "../check.h"
#include <pthread.h>

static pthread_rwlock_t lock;
static pthread_rwlock_t initialised = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t both;
static int first, second;

static void *writer(void *unused) {
    for (int i = 0; i < 25; i++) {
        CHECK(pthread_rwlock_wrlock(&lock) == 0);
        first++;
        second++;
        CHECK(pthread_rwlock_unlock(&lock) == 0);
    }
    return NULL;
}

static void *reader(void *unused) {
    for (int i = 0; i < 25; i++) {
        CHECK(pthread_rwlock_rdlock(&lock) == 0);
        int seen = first;
        CHECK(seen == second && seen == first);
        CHECK(pthread_rwlock_unlock(&lock) == 0);
    }
    // Both readers are inside at once, or this would never end.
    CHECK(pthread_rwlock_rdlock(&initialised) == 0);
    pthread_barrier_wait(&both);
    CHECK(pthread_rwlock_unlock(&initialised) == 0);
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    CHECK(pthread_rwlock_init(&lock, NULL) == 0);
    CHECK(pthread_barrier_init(&both, NULL, 2) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, i % 2 ? reader : writer, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(first == 50 && second == 50);
    CHECK(pthread_rwlock_destroy(&lock) == 0);
    puts("ok");
}
