#include <pthread.h>
#include <stdatomic.h>

atomic_int wants[2], turn;
int counter;

static void *enter(void *argument) {
    int me = argument != 0, other = 1 - me;
    atomic_store(&wants[me], 1);
    atomic_store(&turn, other);
    while (atomic_load(&wants[other]) == 1 && atomic_load(&turn) == other) {
    }
    counter = counter + 1;
    atomic_store(&wants[me], 0);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, enter, 0);
    pthread_create(&b, 0, enter, &a);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return counter == 2 ? 0 : 1;
}
