// Cancellation of a thread that waits for a condition: it gets the mutex back, and its cleanup handlers run, last first;
// values of keys are destroyed after them.
#include "../check.h"
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER, ready = PTHREAD_COND_INITIALIZER;
static pthread_key_t key;
static int waiting, order[3], steps;

static void unlock(void *unused) {
    order[steps++] = 1;
    CHECK(pthread_mutex_trylock(&mutex) == EBUSY);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
}

static void outer(void *unused) { order[steps++] = 2; }
static void destroy(void *unused) { order[steps++] = 3; }

static void *worker(void *unused) {
    CHECK(pthread_setspecific(key, &key) == 0);
    pthread_cleanup_push(outer, NULL);
    CHECK(pthread_mutex_lock(&mutex) == 0);
    pthread_cleanup_push(unlock, NULL);
    waiting = 1;
    CHECK(pthread_cond_signal(&ready) == 0);
    for (;;)
        pthread_cond_wait(&never, &mutex);
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void) {
    pthread_t thread;
    void *result;
    CHECK(pthread_key_create(&key, destroy) == 0);
    CHECK(pthread_create(&thread, NULL, worker, NULL) == 0);
    CHECK(pthread_mutex_lock(&mutex) == 0);
    while (!waiting)
        CHECK(pthread_cond_wait(&ready, &mutex) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_cancel(thread) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    CHECK(steps == 3 && order[0] == 1 && order[1] == 2 && order[2] == 3);
    CHECK(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0);
    puts("ok");
}
