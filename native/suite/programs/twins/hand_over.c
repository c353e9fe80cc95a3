#include <pthread.h>
#include <stdint.h>

int item, full, sum;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t is_empty = PTHREAD_COND_INITIALIZER, is_full = PTHREAD_COND_INITIALIZER;

static void *giver(void *argument) {
    pthread_mutex_lock(&m);
    while (full == 1)
        pthread_cond_wait(&is_empty, &m);
    item = (int)(intptr_t)argument;
    full = 1;
    pthread_cond_signal(&is_full);
    pthread_mutex_unlock(&m);
    return 0;
}

static void *taker(void *unused) {
    (void)unused;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&m);
        while (full == 0)
            pthread_cond_wait(&is_full, &m);
        int taken = item;
        full = 0;
        pthread_cond_signal(&is_empty);
        pthread_mutex_unlock(&m);
        int s = sum;
        sum = s + taken;
    }
    return 0;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, 0, giver, (void *)10);
    pthread_create(&b, 0, giver, (void *)20);
    pthread_create(&c, 0, taker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    int s = sum;
    return s == 30 ? 0 : 1;
}
