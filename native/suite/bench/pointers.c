// Pointer-chasing: four threads walk lists that are scattered over memory, and change what they pass.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, NODES = 1 << 17, ROUNDS = 36 };

struct node {
    struct node *next;
    long value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static struct node *scatter(unsigned state) {
    struct node *nodes = malloc(NODES * sizeof *nodes);
    unsigned *order = malloc(NODES * sizeof *order);
    for (unsigned i = 0; i < NODES; i++)
        order[i] = i;
    for (unsigned i = NODES - 1; i > 0; i--) {
        state = state * 1664525 + 1013904223;
        unsigned other = (state >> 8) % (i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (unsigned i = 0; i < NODES; i++) {
        nodes[order[i]].next = i + 1 < NODES ? &nodes[order[i + 1]] : NULL;
        nodes[order[i]].value = i;
    }
    struct node *first = &nodes[order[0]];
    free(order);
    return first;
}

static void *walker(void *argument) {
    struct node *first = scatter(*(int *)argument);
    long sum = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (struct node *node = first; node; node = node->next) {
            sum += node->value;
            if ((node->value & 15) == 0)
                node->value += 16;
        }
    pthread_mutex_lock(&lock);
    total += sum;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int seeds[THREADS];
    for (int i = 0; i < THREADS; i++) {
        seeds[i] = i + 1;
        pthread_create(&threads[i], NULL, walker, &seeds[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", total);
}
