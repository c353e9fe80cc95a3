#include <pthread.h>
#include <stdatomic.h>

atomic_int ready;
int x;

static void *reader(void *unused) {
    while (atomic_load(&ready) == 0) {
    }
    x = x + 1;
    return unused;
}

static void *writer(void *unused) {
    x = 1;
    atomic_store(&ready, 1);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, reader, 0);
    pthread_create(&b, 0, writer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return x == 2 ? 0 : 1;
}
