// pthread_attr_*: detach state, stack size, guard size and a stack of one's own are kept, and a thread with them runs.
#include "../check.h"
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <sys/mman.h>

static sem_t done;
static char *own_stack;
enum { OWN_BYTES = 1 << 18 };

static void *deep(void *unused) {
    volatile char space[300000];
    space[0] = 1;
    space[sizeof space - 1] = 2;
    return (void *)(intptr_t)(space[0] + space[sizeof space - 1]);
}

static void *detached(void *unused) {
    sem_post(&done);
    return NULL;
}

static void *on_own_stack(void *unused) {
    volatile char here = 0;
    CHECK((char *)&here >= own_stack && (char *)&here < own_stack + OWN_BYTES);
    return NULL;
}

int main(void) {
    pthread_attr_t attributes;
    int state;
    size_t bytes;
    pthread_t thread;
    void *result;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_getdetachstate(&attributes, &state) == 0 && state == PTHREAD_CREATE_JOINABLE);
    CHECK(pthread_attr_setstacksize(&attributes, 1) == EINVAL);
    CHECK(pthread_attr_setstacksize(&attributes, 1 << 19) == 0);
    CHECK(pthread_attr_getstacksize(&attributes, &bytes) == 0 && bytes == 1 << 19);
    CHECK(pthread_attr_setguardsize(&attributes, 8192) == 0);
    CHECK(pthread_attr_getguardsize(&attributes, &bytes) == 0 && bytes == 8192);
    CHECK(pthread_create(&thread, &attributes, deep, NULL) == 0);
    CHECK(pthread_join(thread, &result) == 0 && (intptr_t)result == 3);

    CHECK(sem_init(&done, 0, 0) == 0);
    CHECK(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0);
    CHECK(pthread_create(&thread, &attributes, detached, NULL) == 0);
    CHECK(sem_wait(&done) == 0);
    CHECK(pthread_attr_destroy(&attributes) == 0);

    own_stack = mmap(NULL, OWN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(own_stack != MAP_FAILED);
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstack(&attributes, own_stack, OWN_BYTES) == 0);
    CHECK(pthread_create(&thread, &attributes, on_own_stack, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_attr_destroy(&attributes) == 0);
    puts("ok");
}
