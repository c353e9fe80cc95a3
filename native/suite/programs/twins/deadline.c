#include <pthread.h>
#include <time.h>

int ready, woken, expired;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;

static void *waiter(void *unused) {
    (void)unused;
    struct timespec until = {1L << 40, 0};
    pthread_mutex_lock(&m);
    if (ready == 0) {
        if (pthread_cond_timedwait(&c, &m, &until) == 0)
            woken = 1;
        else
            expired = 1;
    }
    pthread_mutex_unlock(&m);
    return 0;
}

static void *signaller(void *unused) {
    (void)unused;
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, waiter, 0);
    pthread_create(&b, 0, signaller, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    int e = expired;
    return e == 0 || e == 1 ? 0 : 2;
}
