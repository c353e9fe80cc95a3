// Recursive mutexes: free only after as many unlocks, whatever others try in between.
#include "../check.h"
#include <pthread.h>

static pthread_mutex_t mutex;
static int counter;

static void add(int depth) {
    CHECK(pthread_mutex_lock(&mutex) == 0);
    int seen = counter;
    if (depth > 0)
        add(depth - 1);
    counter = counter + 1;
    CHECK(counter == seen + depth + 1);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
}

static void *worker(void *unused) {
    for (int i = 0; i < 20; i++)
        add(2);
    return NULL;
}

static void *prober(void *unused) {
    CHECK(pthread_mutex_trylock(&mutex) == EBUSY);
    CHECK(pthread_mutex_unlock(&mutex) == EPERM);
    return NULL;
}

int main(void) {
    pthread_t threads[3], other;
    pthread_mutexattr_t attributes;
    CHECK(pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE) == 0);
    CHECK(pthread_mutex_init(&mutex, &attributes) == 0);
    CHECK(pthread_mutexattr_destroy(&attributes) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(counter == 180);
    CHECK(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_trylock(&mutex) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_create(&other, NULL, prober, NULL) == 0 && pthread_join(other, NULL) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == EPERM);
    CHECK(pthread_mutex_destroy(&mutex) == 0);
    puts("ok");
}
