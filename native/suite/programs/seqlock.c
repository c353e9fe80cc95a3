// A sequence lock: the writer makes the count odd while it writes, readers try again if it was odd or has moved.
//
// prints: last 8 80 800
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint sequence;
static atomic_int values[3];

static void *writer(void *unused) {
    for (int i = 1; i <= 8; i++) {
        unsigned before = atomic_load_explicit(&sequence, memory_order_relaxed);
        atomic_store_explicit(&sequence, before + 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_release);
        for (int k = 0, factor = 1; k < 3; k++, factor *= 10)
            atomic_store_explicit(&values[k], i * factor, memory_order_relaxed);
        atomic_store_explicit(&sequence, before + 2, memory_order_release);
    }
    return NULL;
}

static void *reader(void *unused) {
    for (int i = 0; i < 6; i++) {
        unsigned before, after;
        int seen[3];
        do {
            before = atomic_load_explicit(&sequence, memory_order_acquire);
            for (int k = 0; k < 3; k++)
                seen[k] = atomic_load_explicit(&values[k], memory_order_relaxed);
            atomic_thread_fence(memory_order_acquire);
            after = atomic_load_explicit(&sequence, memory_order_relaxed);
        } while (before % 2 != 0 || before != after);
        CHECK(seen[1] == 10 * seen[0] && seen[2] == 100 * seen[0]);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, i == 1 ? writer : reader, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    printf("last %d %d %d\n", values[0], values[1], values[2]);
}
