// pthread_cond_broadcast on a condition variable with a static initialiser: all waiters wake, one at a time.
#include "../check.h"
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t start = PTHREAD_COND_INITIALIZER, ready = PTHREAD_COND_INITIALIZER;
static int waiting, go, woken, inside;

static void *worker(void *unused) {
    CHECK(pthread_mutex_lock(&mutex) == 0);
    waiting++;
    CHECK(pthread_cond_signal(&ready) == 0);
    while (!go)
        CHECK(pthread_cond_wait(&start, &mutex) == 0);
    CHECK(++inside == 1);
    woken++;
    inside--;
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    return NULL;
}

int main(void) {
    pthread_t threads[5];
    for (int i = 0; i < 5; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    CHECK(pthread_mutex_lock(&mutex) == 0);
    while (waiting < 5)
        CHECK(pthread_cond_wait(&ready, &mutex) == 0);
    CHECK(woken == 0);
    go = 1;
    CHECK(pthread_cond_broadcast(&start) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    for (int i = 0; i < 5; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(woken == 5);
    puts("ok");
}
