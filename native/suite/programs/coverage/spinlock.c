// pthread_spin_init, lock, trylock, unlock, destroy: exclusion, and EBUSY while it is held.
#include "../check.h"
#include <pthread.h>

static pthread_spinlock_t lock;
static int counter;

static void *worker(void *unused) {
    for (int i = 0; i < 30; i++) {
        CHECK(pthread_spin_lock(&lock) == 0);
        counter++;
        CHECK(pthread_spin_unlock(&lock) == 0);
    }
    return NULL;
}

static void *prober(void *unused) {
    CHECK(pthread_spin_trylock(&lock) == EBUSY);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    CHECK(pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE) == 0);
    CHECK(pthread_spin_trylock(&lock) == 0);
    CHECK(pthread_create(&threads[0], NULL, prober, NULL) == 0 && pthread_join(threads[0], NULL) == 0);
    CHECK(pthread_spin_unlock(&lock) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(counter == 90);
    CHECK(pthread_spin_destroy(&lock) == 0);
    puts("ok");
}
