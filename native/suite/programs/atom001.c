// A bug pattern of the Apache server (mod_mem_cache): a reference count is decremented and then asked for, in two steps, so
// that two threads can both find it 0. AV, section 6.
//
// bug: between the decrement and the test the other thread can decrement too: the object is freed twice.
// prints: freed 1
// finds: atomicity 21 22: assertion
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>
#include <threadbare.h>

struct object {
    atomic_int references;
    atomic_int freed;
};

static struct object cached = {2, 0};

static void *release(void *unused) {
    TB_ATOMIC_BEGIN;
    atomic_fetch_sub(&cached.references, 1);
    if (atomic_load(&cached.references) == 0)
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
