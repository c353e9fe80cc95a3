// Atomics-heavy: four threads push to and pop from a stack by compare-and-swap, and count in shared counters.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 4, NODES = 256, ROUNDS = 8000000 };
#define NONE 0xffffffffu

static _Atomic uint32_t next[THREADS * NODES];
static _Atomic uint64_t top = NONE;
static atomic_long counters[8];

static void push(uint32_t node) {
    uint64_t seen = atomic_load_explicit(&top, memory_order_relaxed), wanted;
    do {
        atomic_store_explicit(&next[node], (uint32_t)seen, memory_order_relaxed);
        wanted = ((seen >> 32) + 1) << 32 | node;
    } while (!atomic_compare_exchange_weak_explicit(&top, &seen, wanted, memory_order_release, memory_order_relaxed));
}

static uint32_t pop(void) {
    uint64_t seen = atomic_load_explicit(&top, memory_order_acquire), wanted;
    do {
        if ((uint32_t)seen == NONE)
            return NONE;
        uint32_t below = atomic_load_explicit(&next[(uint32_t)seen], memory_order_relaxed);
        wanted = ((seen >> 32) + 1) << 32 | below;
    } while (!atomic_compare_exchange_weak_explicit(&top, &seen, wanted, memory_order_acquire, memory_order_acquire));
    return (uint32_t)seen;
}

static void *worker(void *argument) {
    uint32_t me = *(uint32_t *)argument;
    for (uint32_t i = 0; i < NODES; i++)
        push(me * NODES + i);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t node = pop();
        atomic_fetch_add_explicit(&counters[i & 7], 1, memory_order_relaxed);
        if (node != NONE)
            push(node);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    uint32_t names[THREADS];
    long total = 0, left = 0;
    for (uint32_t i = 0; i < THREADS; i++) {
        names[i] = i;
        pthread_create(&threads[i], NULL, worker, &names[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 8; i++)
        total += counters[i];
    while (pop() != NONE)
        left++;
    printf("%ld %ld\n", total, left);
}
