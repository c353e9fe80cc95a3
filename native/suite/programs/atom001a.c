// atom001 with its violation removed by data: a thread that finds the count at 0 frees only if it is the first to claim it.
//
// prints: freed 1
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>
#include <threadbare.h>

struct object {
    atomic_int references;
    atomic_int claimed;
    atomic_int freed;
};

static struct object cached = {2, 0, 0};

static void *release(void *unused) {
    TB_ATOMIC_BEGIN;
    if (atomic_fetch_sub(&cached.references, 1) == 1 && atomic_exchange(&cached.claimed, 1) == 0)
        atomic_fetch_add(&cached.freed, 1);
    TB_ATOMIC_END;
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, release, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    TB_ASSERT(cached.freed == 1);
    printf("freed %d\n", cached.freed);
}
