#include <pthread.h>
#include <stdatomic.h>

atomic_int held;
int counter;

static void take(void) {
    while (atomic_exchange(&held, 1) == 1) {
    }
}

static void *add(void *unused) {
    take();
    counter = counter + 1;
    atomic_store(&held, 0);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    add(0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return counter == 3 ? 0 : 1;
}
