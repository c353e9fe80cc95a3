#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int stage, notes, total;

static void note(int times) {
    for (int i = 0; i < times; i++)
        atomic_fetch_add(&notes, 1);
}

static void *worker(void *unused) {
    atomic_fetch_add(&stage, 1);
    switch (atomic_load(&stage)) {
    case 1:
        note(1);
        break;
    case 2:
        note(2);
        break;
    default:
        break;
    }
    atomic_fetch_add(&total, 1);
    return unused;
}

int main(void) {
    pthread_t all[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&all[i], 0, worker, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(all[i], 0);
    assert(atomic_load(&total) == 3);
    return 0;
}
