// Spinning on an atomic flag, with and without sched_yield or a pause instruction: who spins is preempted.
#include "../check.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int flags[3];
static int handed[3];

static void *worker(void *unused) {
    for (int i = 0; i < 3; i++) {
        handed[i] = i + 1;
        atomic_store_explicit(&flags[i], 1, memory_order_release);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, worker, NULL) == 0);
    while (!atomic_load_explicit(&flags[0], memory_order_acquire))
        continue;
    CHECK(handed[0] == 1);
    while (!atomic_load_explicit(&flags[1], memory_order_acquire))
        sched_yield();
    CHECK(handed[1] == 2);
    while (!atomic_load_explicit(&flags[2], memory_order_acquire))
        __builtin_ia32_pause();
    CHECK(handed[2] == 3);
    CHECK(pthread_join(thread, NULL) == 0);
    puts("ok");
}
