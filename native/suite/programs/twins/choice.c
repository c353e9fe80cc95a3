#include <pthread.h>
#include <stdatomic.h>

atomic_int chosen;
int left, right;

static void *chooser(void *unused) {
    if (atomic_load(&chosen))
        left = 1;
    else
        right = 1;
    return unused;
}

static void *setter(void *unused) {
    atomic_store(&chosen, 1);
    return unused;
}

static void *writer(void *unused) {
    left = 2;
    right = 2;
    return unused;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, 0, chooser, 0);
    pthread_create(&b, 0, setter, 0);
    pthread_create(&c, 0, writer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return 0;
}
