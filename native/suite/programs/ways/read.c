#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int flag, seen, total;

static void *setter(void *unused) {
    atomic_store(&flag, 1);
    atomic_fetch_add(&total, 1);
    return unused;
}

static void *looker(void *unused) {
    if (atomic_load(&flag) == 1)
        atomic_store(&seen, 1);
    atomic_fetch_add(&total, 1);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, setter, 0);
    pthread_create(&b, 0, looker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(atomic_load(&total) == 2 && atomic_load(&seen) == 0);
    return 0;
}
