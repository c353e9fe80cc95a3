#define _GNU_SOURCE
#include <pthread.h>

int got, missed;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t r = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static void *worker(void *unused) {
    (void)unused;
    for (int i = 0; i < 3; i++) {
        if (pthread_mutex_trylock(&m) == 0) {
            int g = got;
            got = g + 1;
            pthread_mutex_unlock(&m);
        } else {
            __atomic_fetch_add(&missed, 1, __ATOMIC_SEQ_CST);
        }
    }
    pthread_mutex_lock(&r);
    if (pthread_mutex_trylock(&r) == 0) {
        int g = got;
        got = g + 10;
        pthread_mutex_unlock(&r);
    }
    pthread_mutex_unlock(&r);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    int g = got;
    return g > 0 ? 0 : 1;
}
