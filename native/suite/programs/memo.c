// A cache of computed values with double-checked locking: an acquire load outside the lock, a second look inside.
//
// prints: 10 tables made, sum 3960
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>

enum { KEYS = 10, LENGTH = 8 };

static _Atomic(int *) tables[KEYS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int made;

static int *table(int key) {
    int *found = atomic_load_explicit(&tables[key], memory_order_acquire);
    if (found)
        return found;
    pthread_mutex_lock(&mutex);
    found = atomic_load_explicit(&tables[key], memory_order_relaxed);
    if (!found) {
        found = malloc(LENGTH * sizeof *found);
        for (int i = 0; i < LENGTH; i++)
            found[i] = (key + 1) * i;
        made++;
        atomic_store_explicit(&tables[key], found, memory_order_release);
    }
    pthread_mutex_unlock(&mutex);
    return found;
}

static void *worker(void *sum) {
    for (int i = 0; i < 2 * KEYS; i++)
        for (int k = 0; k < LENGTH; k += 2)
            *(int *)sum += table(i * 3 % KEYS)[k];
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    int sums[3] = {0}, total = 0;
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, &sums[i]) == 0);
    for (int i = 0; i < 3; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        total += sums[i];
    }
    for (int i = 0; i < KEYS; i++)
        free(tables[i]);
    printf("%d tables made, sum %d\n", made, total);
}
