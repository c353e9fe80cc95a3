// Who comes first makes it, and it is assumed that the first thread does.
#include <assert.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static __thread long me;
static long owner;

static void make(void) {
    owner = me;
}

static void *worker(void *number) {
    me = (long)number;
    pthread_once(&once, make);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, worker, (void *)1);
    pthread_create(&second, NULL, worker, (void *)2);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(owner == 1);
    return 0;
}
