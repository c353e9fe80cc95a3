// A waiter that does not look again: the helper may have taken what it was woken for.
// finds: wakeup 14 15: other result
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static int items, there;

static void *waiter(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    // A loop would look again.
    if (items == 0)
        pthread_cond_wait(&more, &lock);
    there = items;
    items--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void put(void) {
    pthread_mutex_lock(&lock);
    items++;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&lock);
}

static void *supplier(void *unused) {
    (void)unused;
    put();
    put();
    return NULL;
}

static void *helper(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    if (items > 0)
        items--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, waiter, NULL);
    pthread_create(&threads[1], NULL, supplier, NULL);
    pthread_create(&threads[2], NULL, helper, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    puts(there > 0 ? "served" : "served with nothing");
    return 0;
}
