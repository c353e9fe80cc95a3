// Two locks in two orders, but a third one is always taken first: no deadlock.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;
static int moved;

static void *there(void *unused) {
    (void)unused;
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right);
    moved++;
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
    pthread_mutex_unlock(&gate);
    return NULL;
}

static void *back(void *unused) {
    (void)unused;
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(&right);
    pthread_mutex_lock(&left);
    moved--;
    pthread_mutex_unlock(&left);
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&gate);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, there, NULL);
    pthread_create(&b, NULL, back, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%d\n", moved);
    return 0;
}
