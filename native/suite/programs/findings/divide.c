// Another thread takes the last part away between the look and the division.
// finds: crash 17: crash
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int parts = 1;
static int share;

static void *divide(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int left = parts;
    pthread_mutex_unlock(&lock);
    // The value that was looked at is used, and it may be that of after the other thread.
    //
    share = 100 / left;
    return NULL;
}

static void *take(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    parts--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, divide, NULL);
    pthread_create(&b, NULL, take, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    puts("done");
    return 0;
}
