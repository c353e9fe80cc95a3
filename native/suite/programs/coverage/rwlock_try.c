// pthread_rwlock_tryrdlock, trywrlock: EBUSY exactly when the lock is held in a way that excludes them; a second wrlock by
// its holder is EDEADLK.
#include "../check.h"
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int counter;

struct expected {
    int read, write;
};

static void *prober(void *argument) {
    struct expected *expected = argument;
    CHECK(pthread_rwlock_tryrdlock(&lock) == expected->read);
    if (expected->read == 0)
        CHECK(pthread_rwlock_unlock(&lock) == 0);
    CHECK(pthread_rwlock_trywrlock(&lock) == expected->write);
    if (expected->write == 0)
        CHECK(pthread_rwlock_unlock(&lock) == 0);
    return NULL;
}

static void probe(int read, int write) {
    pthread_t thread;
    struct expected expected = {read, write};
    CHECK(pthread_create(&thread, NULL, prober, &expected) == 0 && pthread_join(thread, NULL) == 0);
}

static void *worker(void *unused) {
    for (int i = 0; i < 20; i++) {
        int answer;
        while ((answer = pthread_rwlock_trywrlock(&lock)) != 0)
            CHECK(answer == EBUSY);
        counter++;
        CHECK(pthread_rwlock_unlock(&lock) == 0);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    probe(0, 0);
    CHECK(pthread_rwlock_rdlock(&lock) == 0);
    probe(0, EBUSY);
    CHECK(pthread_rwlock_unlock(&lock) == 0);
    CHECK(pthread_rwlock_wrlock(&lock) == 0);
    probe(EBUSY, EBUSY);
    CHECK(pthread_rwlock_wrlock(&lock) == EDEADLK);
    CHECK(pthread_rwlock_rdlock(&lock) == EDEADLK);
    CHECK(pthread_rwlock_unlock(&lock) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(counter == 40);
    puts("ok");
}
