#include <pthread.h>

int ready, waiting, passed;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t start = PTHREAD_COND_INITIALIZER, arrived = PTHREAD_COND_INITIALIZER;

static void *waiter(void *unused) {
    (void)unused;
    pthread_mutex_lock(&m);
    int w = waiting;
    waiting = w + 1;
    pthread_cond_signal(&arrived);
    while (ready == 0)
        pthread_cond_wait(&start, &m);
    int p = passed;
    passed = p + 1;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, 0, waiter, 0);
    pthread_create(&b, 0, waiter, 0);
    pthread_create(&c, 0, waiter, 0);
    pthread_mutex_lock(&m);
    while (waiting < 3)
        pthread_cond_wait(&arrived, &m);
    ready = 1;
    pthread_cond_broadcast(&start);
    pthread_mutex_unlock(&m);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    int p = passed;
    return p == 3 ? 0 : 1;
}
