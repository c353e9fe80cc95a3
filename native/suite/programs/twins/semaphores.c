#include <pthread.h>
#include <semaphore.h>

int ring[2];
int sum, failed, tokens;
sem_t empty, full, extra;

static void *producer(void *unused) {
    (void)unused;
    for (int i = 0; i < 4; i++) {
        sem_wait(&empty);
        ring[i % 2] = i + 1;
        sem_post(&full);
    }
    if (sem_trywait(&extra) == 0)
        tokens = 1;
    return 0;
}

static void *consumer(void *unused) {
    (void)unused;
    for (int i = 0; i < 4; i++) {
        sem_wait(&full);
        int item = ring[i % 2];
        sem_post(&empty);
        int s = sum;
        sum = s + item;
    }
    if (sem_trywait(&extra) != 0)
        failed = 1;
    return 0;
}

int main(void) {
    pthread_t a, b;
    int v;
    sem_init(&empty, 0, 2);
    sem_init(&full, 0, 0);
    sem_init(&extra, 0, 1);
    pthread_create(&a, 0, producer, 0);
    pthread_create(&b, 0, consumer, 0);
    sem_getvalue(&full, &v);
    pthread_join(a, 0);
    pthread_join(b, 0);
    sem_getvalue(&extra, &v);
    int s = sum;
    return s == 10 && v == 0 ? 0 : 1;
}
