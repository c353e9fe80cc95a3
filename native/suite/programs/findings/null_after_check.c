// The pointer is looked at under the lock, and used under the lock, but not in one go.
// finds: crash 22: crash
// finds: atomicity 17 22 30: crash
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value = 5;
static int *current = &value;
static int sum;

static void *reader(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    //
    //
    int there = current != NULL;
    pthread_mutex_unlock(&lock);
    if (there) {
        pthread_mutex_lock(&lock);
        //
        sum += *current;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void leave(void) {
    pthread_mutex_lock(&lock);
    current = NULL;
    pthread_mutex_unlock(&lock);
}

static void *closer(void *unused) {
    (void)unused;
    leave();
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, closer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    puts("done");
    return 0;
}
