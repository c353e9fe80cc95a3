// dynRec of PRUNE, section 6, in its spirit: threads that threads start, and each walks a list of records recursively.
//
// bug: a record's count is read and written without a lock, so that a visit can be lost.
// prints: 12 visits of 4 records by 3 threads
// finds: assertion 59: assertion
// finds: atomicity 28 29: assertion
// finds: race 28 29: assertion
// finds: race 29: assertion
#include "check.h"
#include <pthread.h>
#include <threadbare.h>

enum { RECORDS = 4, THREADS = 3 };

struct record {
    int visits;
    struct record *next;
};

static struct record *first;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int started;

static void visit(struct record *record) {
    if (!record)
        return;
    TB_ATOMIC_BEGIN;
    int seen = record->visits;
    record->visits = seen + 1;
    TB_ATOMIC_END;
    visit(record->next);
}

static void *walker(void *unused) {
    pthread_t next;
    pthread_mutex_lock(&mutex);
    int more = ++started < THREADS;
    pthread_mutex_unlock(&mutex);
    if (more)
        CHECK(pthread_create(&next, NULL, walker, NULL) == 0);
    visit(first);
    if (more)
        CHECK(pthread_join(next, NULL) == 0);
    return NULL;
}

static int count(const struct record *record) { return record ? record->visits + count(record->next) : 0; }

int main(void) {
    pthread_t thread;
    for (int i = 0; i < RECORDS; i++) {
        struct record *record = malloc(sizeof *record);
        record->visits = 0;
        record->next = first;
        first = record;
    }
    CHECK(pthread_create(&thread, NULL, walker, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    TB_ASSERT(count(first) == RECORDS * THREADS);
    printf("%d visits of %d records by %d threads\n", count(first), RECORDS, started);
    while (first) {
        struct record *next = first->next;
        free(first);
        first = next;
    }
}
