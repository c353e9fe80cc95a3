// As hidden_race.c, with both accesses under the lock.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int data;

static void *first(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    data = 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *second(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int seen = data;
    pthread_mutex_unlock(&lock);
    return seen < 0 ? &lock : NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    puts("done");
    return 0;
}
