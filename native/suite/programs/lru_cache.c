// A cache that forgets what was used longest ago: a list and a table under one lock.
//
// prints: 60 answers right, 4 entries
#include "check.h"
#include <pthread.h>
#include <stdint.h>

enum { SIZE = 4, KEYS = 9 };

struct entry {
    int key, value, used;
    struct entry *before, *after;
};

static struct entry entries[SIZE];
static struct entry *by_key[KEYS];
static struct entry list = {.before = &list, .after = &list};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int hits, misses;

static void unlink_entry(struct entry *entry) {
    entry->before->after = entry->after;
    entry->after->before = entry->before;
}

static void put_first(struct entry *entry) {
    entry->after = list.after;
    entry->before = &list;
    list.after->before = entry;
    list.after = entry;
}

static int compute(int key) { return key * key + 1; }

static int get(int key) {
    pthread_mutex_lock(&mutex);
    struct entry *entry = by_key[key];
    if (entry) {
        hits++;
    } else {
        misses++;
        entry = list.before;
        if (entry->used)
            by_key[entry->key] = NULL;
        entry->used = 1;
        entry->key = key;
        entry->value = compute(key);
        by_key[key] = entry;
    }
    unlink_entry(entry);
    put_first(entry);
    int value = entry->value;
    pthread_mutex_unlock(&mutex);
    return value;
}

static void *worker(void *argument) {
    intptr_t right = 0;
    for (int i = 0; i < 20; i++) {
        int key = (i * 5 + *(int *)argument) % KEYS;
        right += get(key) == key * key + 1;
    }
    return (void *)right;
}

int main(void) {
    pthread_t threads[3];
    int names[3] = {0, 1, 2}, used = 0;
    intptr_t right = 0;
    void *result;
    for (int i = 0; i < SIZE; i++)
        put_first(&entries[i]);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, &names[i]) == 0);
    for (int i = 0; i < 3; i++) {
        CHECK(pthread_join(threads[i], &result) == 0);
        right += (intptr_t)result;
    }
    for (int key = 0; key < KEYS; key++)
        used += by_key[key] != NULL;
    CHECK(hits + misses == 60);
    printf("%d answers right, %d entries\n", (int)right, used);
}
