// pthread_mutexattr_*: what is set is what one gets; a mutex shared between processes works between threads.
#include "../check.h"
#include <pthread.h>

static pthread_mutex_t mutex;
static int counter;

static void *worker(void *unused) {
    for (int i = 0; i < 40; i++) {
        CHECK(pthread_mutex_lock(&mutex) == 0);
        counter++;
        CHECK(pthread_mutex_unlock(&mutex) == 0);
    }
    return NULL;
}

int main(void) {
    static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                                PTHREAD_MUTEX_DEFAULT};
    pthread_t threads[2];
    pthread_mutexattr_t attributes;
    int value;
    CHECK(pthread_mutexattr_init(&attributes) == 0);
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_mutexattr_settype(&attributes, types[i]) == 0);
        CHECK(pthread_mutexattr_gettype(&attributes, &value) == 0 && value == types[i]);
    }
    CHECK(pthread_mutexattr_settype(&attributes, 99) == EINVAL);
    CHECK(pthread_mutexattr_getpshared(&attributes, &value) == 0 && value == PTHREAD_PROCESS_PRIVATE);
    CHECK(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_mutexattr_getpshared(&attributes, &value) == 0 && value == PTHREAD_PROCESS_SHARED);
    CHECK(pthread_mutex_init(&mutex, &attributes) == 0);
    CHECK(pthread_mutexattr_destroy(&attributes) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(counter == 80);
    CHECK(pthread_mutex_destroy(&mutex) == 0);
    puts("ok");
}
