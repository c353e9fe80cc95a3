// A parallel sum: each thread adds its part locally and then to the total, once under a lock and once by fetch-and-add.
//
// prints: 500500 500500
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>

enum { COUNT = 1000, THREADS = 4 };

static int numbers[COUNT];
static long locked;
static atomic_long added;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *adder(void *argument) {
    int me = *(int *)argument;
    long part = 0;
    for (int i = me * COUNT / THREADS; i < (me + 1) * COUNT / THREADS; i++)
        part += numbers[i];
    pthread_mutex_lock(&mutex);
    locked += part;
    pthread_mutex_unlock(&mutex);
    atomic_fetch_add_explicit(&added, part, memory_order_relaxed);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int names[THREADS];
    for (int i = 0; i < COUNT; i++)
        numbers[i] = i + 1;
    for (int i = 0; i < THREADS; i++) {
        names[i] = i;
        CHECK(pthread_create(&threads[i], NULL, adder, &names[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    printf("%ld %ld\n", locked, added);
}
