#include <pthread.h>
#include <stdint.h>

int buffer[2];
int count, in, out, sum;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;

static void *producer(void *argument) {
    int first = (int)(intptr_t)argument;
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&m);
        while (count == 2)
            pthread_cond_wait(&not_full, &m);
        int at = in;
        buffer[at] = first + i;
        in = (at + 1) % 2;
        int c = count;
        count = c + 1;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&m);
    }
    return 0;
}

static void *consumer(void *unused) {
    (void)unused;
    for (int i = 0; i < 6; i++) {
        pthread_mutex_lock(&m);
        while (count == 0)
            pthread_cond_wait(&not_empty, &m);
        int at = out;
        int item = buffer[at];
        out = (at + 1) % 2;
        int c = count;
        count = c - 1;
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&m);
        int s = sum;
        sum = s + item;
    }
    return 0;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, 0, producer, (void *)10);
    pthread_create(&b, 0, producer, (void *)20);
    pthread_create(&c, 0, consumer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    int s = sum;
    return s == 96 ? 0 : 1;
}
