// An archiver: a pool of workers takes blocks of a text from a queue, packs each with bzip2's own source (some 5,000 lines), checks that it
// comes back, and enters it into the index of the archive.
//
// bug: the size of the archive is looked up in one critical section and written in another, so that a block in between is not counted.
#include <assert.h>
#include <bzlib.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 3, BLOCKS = 9, BYTES = 600 };

struct block {
    char text[BYTES];
    char *packed;
    size_t size;
    struct block *next;
};

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER, archive_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static struct block *queue;
static int closed;
static size_t archive_size, entries;
static struct block *archive[BLOCKS];

static void fill(char *text, unsigned state) {
    static const char *const words[] = {"thread", "bare",  "lock",  "event", "trace", "schedule", "witness", "the",
                                        "of",     "which", "other", "run",   "under", "a",        "order",   "and"};
    size_t at = 0;
    while (at < BYTES) {
        state = state * 1664525 + 1013904223;
        for (const char *word = words[state >> 28]; *word && at < BYTES; word++)
            text[at++] = *word;
        if (at < BYTES)
            text[at++] = (state >> 20 & 15) == 0 ? '\n' : ' ';
    }
}

static void put(struct block *block) {
    pthread_mutex_lock(&queue_lock);
    block->next = queue;
    queue = block;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&queue_lock);
}

static struct block *take(void) {
    pthread_mutex_lock(&queue_lock);
    while (!queue && !closed)
        pthread_cond_wait(&more, &queue_lock);
    struct block *block = queue;
    if (block)
        queue = block->next;
    pthread_mutex_unlock(&queue_lock);
    return block;
}

static void pack(struct block *block) {
    char back[BYTES];
    unsigned size = BYTES + BYTES / 100 + 600, length = BYTES;
    block->packed = malloc(size);
    if (BZ2_bzBuffToBuffCompress(block->packed, &size, block->text, BYTES, 1, 0, 0) != BZ_OK ||
        BZ2_bzBuffToBuffDecompress(back, &length, block->packed, size, 0, 0) != BZ_OK || length != BYTES ||
        memcmp(back, block->text, BYTES) != 0)
        abort();
    block->size = size;
}

// bzip2 calls this if it finds itself wrong.
void bz_internal_error(int code) {
    fprintf(stderr, "bzip2: %d\n", code);
    abort();
}

static void enter(struct block *block) {
    pthread_mutex_lock(&archive_lock);
    size_t size = archive_size;
    archive[entries++] = block;
    pthread_mutex_unlock(&archive_lock);
    pthread_mutex_lock(&archive_lock);
    archive_size = size + block->size;
    pthread_mutex_unlock(&archive_lock);
}

static void *worker(void *unused) {
    for (struct block *block; (block = take());) {
        pack(block);
        enter(block);
    }
    return unused;
}

int main(void) {
    pthread_t workers[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    for (int i = 0; i < BLOCKS; i++) {
        struct block *block = malloc(sizeof *block);
        fill(block->text, 7 + i);
        put(block);
    }
    pthread_mutex_lock(&queue_lock);
    closed = 1;
    pthread_cond_broadcast(&more);
    pthread_mutex_unlock(&queue_lock);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    size_t sum = 0;
    for (size_t i = 0; i < entries; i++)
        sum += archive[i]->size;
    assert(sum == archive_size);
    printf("%zu blocks\n", entries);
    for (size_t i = 0; i < entries; i++) {
        free(archive[i]->packed);
        free(archive[i]);
    }
    return 0;
}
