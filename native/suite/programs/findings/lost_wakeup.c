// The flag is set and signalled without the lock that the waiter looks at it under: the signal can come between the look and the wait.
// finds: deadlock 19 38: deadlock
// finds: race 18 28: deadlock
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;

static void *waiter(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    // Looked at under the lock, set without it.
    //
    //
    //
    while (!ready)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *setter(void *unused) {
    (void)unused;
    //
    //
    ready = 1;
    pthread_cond_signal(&changed);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, waiter, NULL);
    pthread_create(&b, NULL, setter, NULL);
    // Whoever waits for the waiter waits for ever with it.
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    puts("done");
    return 0;
}
