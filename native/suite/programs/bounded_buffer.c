// A bounded buffer with two condition variables, two producers, two consumers.
//
// prints: sum 420 of 40 items
#include "check.h"
#include <pthread.h>

enum { SIZE = 3, EACH = 20 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static int buffer[SIZE], first, count;
static int sums[2], taken[2];

static void put(int item) {
    pthread_mutex_lock(&mutex);
    while (count == SIZE)
        pthread_cond_wait(&not_full, &mutex);
    buffer[(first + count) % SIZE] = item;
    count++;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&mutex);
}

static int take(void) {
    pthread_mutex_lock(&mutex);
    while (count == 0)
        pthread_cond_wait(&not_empty, &mutex);
    int item = buffer[first];
    first = (first + 1) % SIZE;
    count--;
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&mutex);
    return item;
}

static void *producer(void *unused) {
    for (int i = 1; i <= EACH; i++)
        put(i);
    return NULL;
}

static void *consumer(void *argument) {
    int me = *(int *)argument;
    for (int i = 0; i < EACH; i++) {
        sums[me] += take();
        taken[me]++;
    }
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    int names[2] = {0, 1};
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_create(&threads[i], NULL, producer, NULL) == 0);
        CHECK(pthread_create(&threads[i + 2], NULL, consumer, &names[i]) == 0);
    }
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    printf("sum %d of %d items\n", sums[0] + sums[1], taken[0] + taken[1]);
}
