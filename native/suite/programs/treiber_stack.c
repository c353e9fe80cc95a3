// Treiber's stack: compare-and-swap on the top, with a count beside an index against the ABA problem.
//
// prints: pushed 40, popped 40, sum 780
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { NODES = 40, NONE = 0xffffffff };

static uint32_t next[NODES];
static int values[NODES];
static _Atomic uint64_t top = NONE;
static atomic_int pushed, popped, sum;

static void push(uint32_t node) {
    uint64_t seen = atomic_load(&top), wanted;
    do {
        __atomic_store_n(&next[node], (uint32_t)seen, __ATOMIC_RELAXED);
        wanted = (seen & ~(uint64_t)NONE) + ((uint64_t)1 << 32) + node;
    } while (!atomic_compare_exchange_weak(&top, &seen, wanted));
    atomic_fetch_add(&pushed, 1);
}

static uint32_t pop(void) {
    uint64_t seen = atomic_load(&top), wanted;
    do {
        if ((uint32_t)seen == NONE)
            return NONE;
        uint32_t below = __atomic_load_n(&next[(uint32_t)seen], __ATOMIC_RELAXED);
        wanted = (seen & ~(uint64_t)NONE) + ((uint64_t)1 << 32) + below;
    } while (!atomic_compare_exchange_weak(&top, &seen, wanted));
    return (uint32_t)seen;
}

static void *worker(void *argument) {
    uint32_t from = *(uint32_t *)argument;
    for (uint32_t i = from; i < from + NODES / 2; i++) {
        values[i] = i;
        push(i);
    }
    while (atomic_load(&popped) < (int)NODES) {
        uint32_t node = pop();
        if (node != NONE) {
            atomic_fetch_add(&sum, values[node]);
            atomic_fetch_add(&popped, 1);
        }
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    uint32_t from[2] = {0, NODES / 2};
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, &from[i]) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    printf("pushed %d, popped %d, sum %d\n", pushed, popped, sum);
}
