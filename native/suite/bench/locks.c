// Lock-heavy: four threads move money between accounts, each transfer under two locks.
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, ACCOUNTS = 64, ROUNDS = 5000000 };

static struct {
    pthread_mutex_t lock;
    long balance;
} accounts[ACCOUNTS];

static void *clerk(void *argument) {
    unsigned state = *(int *)argument;
    for (int i = 0; i < ROUNDS; i++) {
        state = state * 1664525 + 1013904223;
        int from = state >> 8 & (ACCOUNTS - 1), to = state >> 16 & (ACCOUNTS - 1);
        if (from == to)
            continue;
        int low = from < to ? from : to, high = from + to - low;
        pthread_mutex_lock(&accounts[low].lock);
        pthread_mutex_lock(&accounts[high].lock);
        accounts[from].balance -= 1;
        accounts[to].balance += 1;
        pthread_mutex_unlock(&accounts[high].lock);
        pthread_mutex_unlock(&accounts[low].lock);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int seeds[THREADS];
    long total = 0;
    for (int i = 0; i < ACCOUNTS; i++) {
        pthread_mutex_init(&accounts[i].lock, NULL);
        accounts[i].balance = 100;
    }
    for (int i = 0; i < THREADS; i++) {
        seeds[i] = i + 1;
        pthread_create(&threads[i], NULL, clerk, &seeds[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < ACCOUNTS; i++)
        total += accounts[i].balance;
    printf("%ld\n", total);
}
