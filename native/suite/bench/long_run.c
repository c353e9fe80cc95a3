// A thousand million accesses in four threads, with a lock now and then.
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 1000, CELLS = 1000, PASSES = 125 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned cells[THREADS][CELLS], total;

static void *worker(void *argument) {
    unsigned *mine = cells[*(int *)argument];
    for (int round = 0; round < ROUNDS; round++) {
        for (int pass = 0; pass < PASSES; pass++)
            for (int i = 0; i < CELLS; i++)
                mine[i] += i ^ pass;
        pthread_mutex_lock(&lock);
        total += mine[round];
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int names[THREADS];
    for (int i = 0; i < THREADS; i++) {
        names[i] = i;
        pthread_create(&threads[i], NULL, worker, &names[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%u\n", total);
}
