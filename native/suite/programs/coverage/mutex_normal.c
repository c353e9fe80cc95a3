// pthread_mutex_init, lock, unlock, destroy: a counter without atomics loses nothing, and nobody is inside twice.
#include "../check.h"
#include <pthread.h>

static pthread_mutex_t mutex;
static int counter, inside;

static void *worker(void *unused) {
    for (int i = 0; i < 50; i++) {
        CHECK(pthread_mutex_lock(&mutex) == 0);
        inside++;
        CHECK(inside == 1);
        int seen = counter;
        counter = seen + 1;
        inside--;
        CHECK(pthread_mutex_unlock(&mutex) == 0);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    CHECK(pthread_mutex_init(&mutex, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(counter == 200);
    CHECK(pthread_mutex_destroy(&mutex) == 0);
    puts("ok");
}
