#include <pthread.h>
#include <stdatomic.h>

atomic_int stage;
int first, later;

static void *worker(void *unused) {
    atomic_fetch_add(&stage, 1);
    switch (atomic_load(&stage)) {
    case 1:
        first = 1;
        break;
    case 2:
    case 3:
        later = 1;
        break;
    default:
        break;
    }
    return unused;
}

static void *setter(void *unused) {
    atomic_fetch_add(&stage, 2);
    return unused;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_create(&c, 0, setter, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return 0;
}
