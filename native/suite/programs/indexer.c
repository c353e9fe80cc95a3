// The indexer of Flanagan and Godefroid (POPL 2005), as in PRUNE, section 6: each thread puts four messages into a hash table by
// compare-and-swap and goes on to the next slot where it finds one taken. With 13 threads some collide.
//
// prints: 52 messages in 52 slots
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <threadbare.h>

enum { SIZE = 128, MOST = 4, THREADS = 13 };

static atomic_int table[SIZE];

static void *indexer(void *argument) {
    int me = (int)(intptr_t)argument, sent = 0;
    while (sent < MOST) {
        int message = ++sent * 11 + me;
        int slot = message * 7 % SIZE, empty = 0;
        while (!atomic_compare_exchange_strong(&table[slot], &empty, message)) {
            slot = (slot + 1) % SIZE;
            empty = 0;
        }
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int taken = 0, sum = 0;
    for (intptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, indexer, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < SIZE; i++) {
        taken += table[i] != 0;
        sum += table[i];
    }
    TB_ASSERT(taken == THREADS * MOST);
    CHECK(sum == THREADS * 110 + MOST * THREADS * (THREADS - 1) / 2);
    printf("%d messages in %d slots\n", THREADS * MOST, taken);
}
