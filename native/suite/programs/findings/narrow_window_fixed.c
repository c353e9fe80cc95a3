// As narrow_window.c, with the look and the write in one critical section.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *slow(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int seen = total;
    total = seen + 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *rare(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    total += 10;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, slow, NULL);
    pthread_create(&b, NULL, rare, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(total == 11);
    puts("done");
    return 0;
}
