// Mostly local compute: four threads each multiply matrices of their own, and add the results under a lock.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, SIZE = 160, ROUNDS = 32 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double total;

static void *worker(void *argument) {
    int me = *(int *)argument;
    double(*a)[SIZE] = malloc(sizeof(double[SIZE][SIZE]));
    double(*b)[SIZE] = malloc(sizeof(double[SIZE][SIZE]));
    double(*c)[SIZE] = malloc(sizeof(double[SIZE][SIZE]));
    for (int i = 0; i < SIZE; i++)
        for (int k = 0; k < SIZE; k++) {
            a[i][k] = (i * 7 + k + me) % 10;
            b[i][k] = (i + k * 3) % 7;
        }
    for (int round = 0; round < ROUNDS; round++) {
        double sum = 0;
        for (int i = 0; i < SIZE; i++)
            for (int k = 0; k < SIZE; k++) {
                double cell = 0;
                for (int j = 0; j < SIZE; j++)
                    cell += a[i][j] * b[j][k];
                c[i][k] = cell;
                sum += cell;
            }
        a[round][round] += 1;
        pthread_mutex_lock(&lock);
        total += sum;
        pthread_mutex_unlock(&lock);
    }
    free(a);
    free(b);
    free(c);
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
    printf("%.0f\n", total);
}
