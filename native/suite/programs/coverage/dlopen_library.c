// What dlopen.c loads.
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *worker(void *unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
    counter += 100;
    pthread_mutex_unlock(&mutex);
    return 0;
}

__attribute__((constructor)) static void construct(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    pthread_join(thread, 0);
}

int library_add(int by) {
    pthread_mutex_lock(&mutex);
    counter += by;
    int seen = counter;
    pthread_mutex_unlock(&mutex);
    return seen;
}
