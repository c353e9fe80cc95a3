// A product of matrices of floats, rows handed out by a counter.
//
// prints: trace 721.88, sum 6187.50
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>

enum { SIZE = 10 };

static double a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];
static atomic_int next;

static void *worker(void *unused) {
    int row;
    while ((row = atomic_fetch_add(&next, 1)) < SIZE)
        for (int column = 0; column < SIZE; column++) {
            double sum = 0;
            for (int k = 0; k < SIZE; k++)
                sum += a[row][k] * b[k][column];
            c[row][column] = sum;
        }
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    double trace = 0, sum = 0;
    for (int i = 0; i < SIZE; i++)
        for (int k = 0; k < SIZE; k++) {
            a[i][k] = (i + 1) * 0.5;
            b[i][k] = (k + i) * 0.25;
        }
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < SIZE; i++) {
        trace += c[i][i];
        for (int k = 0; k < SIZE; k++)
            sum += c[i][k];
    }
    printf("trace %.2f, sum %.2f\n", trace, sum);
}
