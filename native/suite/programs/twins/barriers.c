#include <pthread.h>
#include <stdint.h>

int cells[3], sums[3];
pthread_barrier_t b;

static void *worker(void *argument) {
    int me = (int)(intptr_t)argument;
    for (int round = 0; round < 2; round++) {
        cells[me] = me + round;
        pthread_barrier_wait(&b);
        int x = cells[0];
        int y = cells[1];
        int z = cells[2];
        sums[me] = x + y + z;
        pthread_barrier_wait(&b);
    }
    return 0;
}

int main(void) {
    pthread_t t1, t2;
    pthread_barrier_init(&b, 0, 3);
    pthread_create(&t1, 0, worker, (void *)1);
    pthread_create(&t2, 0, worker, (void *)2);
    worker(0);
    pthread_join(t1, 0);
    pthread_join(t2, 0);
    int s = sums[1];
    return s == 6 ? 0 : 1;
}
