// Error-checking mutexes: a second lock is EDEADLK, an unlock by somebody else or of a free one is EPERM.
#include "../check.h"
#include <pthread.h>

static pthread_mutex_t mutex;
static int counter;

static void *other(void *unused) {
    CHECK(pthread_mutex_unlock(&mutex) == EPERM);
    CHECK(pthread_mutex_trylock(&mutex) == EBUSY);
    return NULL;
}

static void *worker(void *unused) {
    for (int i = 0; i < 30; i++) {
        CHECK(pthread_mutex_lock(&mutex) == 0);
        CHECK(pthread_mutex_lock(&mutex) == EDEADLK);
        counter++;
        CHECK(pthread_mutex_unlock(&mutex) == 0);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_mutexattr_t attributes;
    CHECK(pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK) == 0);
    CHECK(pthread_mutex_init(&mutex, &attributes) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == EPERM);
    CHECK(pthread_mutex_lock(&mutex) == 0);
    CHECK(pthread_create(&threads[0], NULL, other, NULL) == 0 && pthread_join(threads[0], NULL) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(counter == 60);
    CHECK(pthread_mutex_destroy(&mutex) == 0);
    puts("ok");
}
