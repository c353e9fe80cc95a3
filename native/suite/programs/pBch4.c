// pBch4 of PRUNE, section 6, in its spirit: a batch of four is filled through a pointer that moves, while another thread
// takes it away when it is full; branches depend on what was read.
//
// bug: the taker gives the slots free before it has read them, and the filler writes into them: items are lost.
// prints: taken 20, in 5 batches
// finds: assertion 53: assertion
// finds: race 25 39: assertion
// finds: race 25 40: assertion
#include "check.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <threadbare.h>

enum { BATCHES = 5, SIZE = 4 };

static int slots[SIZE];
static int *_Atomic end = slots;
static int sum, batches;

static void *filler(void *unused) {
    for (int i = 0; i < BATCHES * SIZE; i++) {
        while (end == slots + SIZE)
            sched_yield();
        *end = 1;
        end = end + 1;
    }
    return NULL;
}

static void *taker(void *unused) {
    while (batches < BATCHES) {
        if (end != slots + SIZE) {
            sched_yield();
            continue;
        }
        end = slots;
        for (int i = 0; i < SIZE; i++) {
            sum += slots[i];
            slots[i] = 0;
        }
        batches++;
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    CHECK(pthread_create(&threads[0], NULL, filler, NULL) == 0);
    CHECK(pthread_create(&threads[1], NULL, taker, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    TB_ASSERT(sum == BATCHES * SIZE);
    printf("taken %d, in %d batches\n", sum, batches);
}
