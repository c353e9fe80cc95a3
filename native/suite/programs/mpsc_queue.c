// Vyukov's queue for many producers and one consumer: an exchange and a store to put, nothing to lock.
//
// prints: 30 items, each producer's in order
#include "check.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { PRODUCERS = 3, EACH = 10 };

struct node {
    _Atomic(struct node *) next;
    int producer, number;
};

static struct node stub;
static _Atomic(struct node *) head = &stub;
static struct node *tail = &stub;

static void put(struct node *node) {
    atomic_store_explicit(&node->next, NULL, memory_order_relaxed);
    struct node *before = atomic_exchange_explicit(&head, node, memory_order_acq_rel);
    atomic_store_explicit(&before->next, node, memory_order_release);
}

static struct node *take(void) {
    struct node *next = atomic_load_explicit(&tail->next, memory_order_acquire);
    if (!next)
        return NULL;
    if (tail != &stub)
        free(tail);
    tail = next;
    return next;
}

static void *producer(void *argument) {
    for (int i = 0; i < EACH; i++) {
        struct node *node = malloc(sizeof *node);
        node->producer = *(int *)argument;
        node->number = i;
        put(node);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[PRODUCERS];
    int names[PRODUCERS] = {0, 1, 2}, expected[PRODUCERS] = {0};
    int taken = 0;
    for (int i = 0; i < PRODUCERS; i++)
        CHECK(pthread_create(&threads[i], NULL, producer, &names[i]) == 0);
    while (taken < PRODUCERS * EACH) {
        struct node *node = take();
        if (!node) {
            sched_yield();
            continue;
        }
        CHECK(node->number == expected[node->producer]++);
        taken++;
    }
    for (int i = 0; i < PRODUCERS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    free(tail);
    printf("%d items, each producer's in order\n", taken);
}
