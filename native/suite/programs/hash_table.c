// A hash table with a lock for each stripe: threads count words' numbers, chains grow and are walked.
//
// prints: 17 keys, 90 counted
#include "check.h"
#include <pthread.h>

enum { BUCKETS = 8, STRIPES = 2, THREADS = 3 };

struct entry {
    int key, count;
    struct entry *next;
};

static struct entry *buckets[BUCKETS];
static pthread_mutex_t stripes[STRIPES] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void count(int key) {
    int bucket = key * 5 % BUCKETS;
    pthread_mutex_lock(&stripes[bucket % STRIPES]);
    struct entry *entry = buckets[bucket];
    while (entry && entry->key != key)
        entry = entry->next;
    if (!entry) {
        entry = malloc(sizeof *entry);
        entry->key = key;
        entry->count = 0;
        entry->next = buckets[bucket];
        buckets[bucket] = entry;
    }
    entry->count++;
    pthread_mutex_unlock(&stripes[bucket % STRIPES]);
}

static void *worker(void *argument) {
    for (int i = 0; i < 30; i++)
        count((i * 7 + *(int *)argument) % 17);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int names[THREADS] = {0, 5, 9}, keys = 0, total = 0;
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, &names[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < BUCKETS; i++)
        while (buckets[i]) {
            struct entry *entry = buckets[i];
            keys++;
            total += entry->count;
            buckets[i] = entry->next;
            free(entry);
        }
    printf("%d keys, %d counted\n", keys, total);
}
