// Producer and consumer with semaphores: a ring with tokens for empty and for full places.
//
// prints: 40 items in order
#include "check.h"
#include <pthread.h>
#include <semaphore.h>

enum { SIZE = 4, ITEMS = 40 };

static int ring[SIZE];
static sem_t empty, full;

static void *producer(void *unused) {
    for (int i = 0; i < ITEMS; i++) {
        CHECK(sem_wait(&empty) == 0);
        ring[i % SIZE] = i * i;
        CHECK(sem_post(&full) == 0);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    int right = 0;
    CHECK(sem_init(&empty, 0, SIZE) == 0 && sem_init(&full, 0, 0) == 0);
    CHECK(pthread_create(&thread, NULL, producer, NULL) == 0);
    for (int i = 0; i < ITEMS; i++) {
        CHECK(sem_wait(&full) == 0);
        right += ring[i % SIZE] == i * i;
        CHECK(sem_post(&empty) == 0);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    printf("%d items in order\n", right);
}
