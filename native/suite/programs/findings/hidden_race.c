// The order in which the lock was taken in the recorded run hides the race: the write before the first critical section happens before
// the second one, so that a detector that only watches the run orders the two accesses. Another schedule does not.
// finds: race 15 24: none
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int data;
static int turns;

static void *first(void *unused) {
    (void)unused;
    // Not under the lock.
    //
    data = 1;
    pthread_mutex_lock(&lock);
    turns++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static int use(void) {
    //
    return data;
}

static void *second(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    turns++;
    pthread_mutex_unlock(&lock);
    return use() < 0 ? &lock : NULL;
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
