// Work stealing: each thread has a deque with a lock, takes from its own end and steals from the other end of others'.
//
// prints: 31 nodes, sum 496
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sched.h>

enum { THREADS = 3, NODES = 31, ROOM = 64 };

struct deque {
    pthread_mutex_t lock;
    int items[ROOM], top, bottom;
};

static struct deque deques[THREADS];
static atomic_int done, sum;

static void push(struct deque *deque, int item) {
    pthread_mutex_lock(&deque->lock);
    deque->items[deque->bottom++] = item;
    pthread_mutex_unlock(&deque->lock);
}

static int take(struct deque *deque, int own) {
    int item = 0;
    pthread_mutex_lock(&deque->lock);
    if (deque->top < deque->bottom)
        item = own ? deque->items[--deque->bottom] : deque->items[deque->top++];
    pthread_mutex_unlock(&deque->lock);
    return item;
}

static void *worker(void *argument) {
    int me = *(int *)argument;
    while (atomic_load(&done) < NODES) {
        int node = take(&deques[me], 1);
        for (int i = 1; i < THREADS && !node; i++)
            node = take(&deques[(me + i) % THREADS], 0);
        if (!node) {
            sched_yield();
            continue;
        }
        atomic_fetch_add(&sum, node);
        for (int child = 2 * node; child <= 2 * node + 1; child++)
            if (child <= NODES)
                push(&deques[me], child);
        atomic_fetch_add(&done, 1);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int names[THREADS] = {0, 1, 2};
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_mutex_init(&deques[i].lock, NULL) == 0);
    push(&deques[0], 1);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, &names[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    printf("%d nodes, sum %d\n", done, sum);
}
