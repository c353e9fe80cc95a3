// pthread_getattr_np: a running thread's stack is the one that its locals are on, and the detach state is known.
#include "../check.h"
#include <pthread.h>

static void *worker(void *unused) {
    volatile char here = 0;
    pthread_attr_t attributes;
    void *lowest;
    size_t bytes;
    int state;
    CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
    CHECK(pthread_attr_getstack(&attributes, &lowest, &bytes) == 0);
    CHECK((char *)&here >= (char *)lowest && (char *)&here < (char *)lowest + bytes);
    CHECK(pthread_attr_getdetachstate(&attributes, &state) == 0 && state == PTHREAD_CREATE_JOINABLE);
    CHECK(pthread_attr_destroy(&attributes) == 0);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    worker(NULL);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    puts("ok");
}
