// exit from a thread that is not main, while others block, sleep and spin: handlers of atexit run, nobody is waited for.
#include "../check.h"
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int turns;

static void last(void) { puts("ok"); }

static void *blocked(void *unused) {
    pthread_mutex_lock(&mutex);
    return NULL;
}

static void *sleeping(void *unused) {
    sleep(1000);
    return NULL;
}

static void *spinning(void *unused) {
    for (;;)
        turns = 1;
    return NULL;
}

static void *ending(void *unused) { exit(0); }

int main(void) {
    void *(*const routines[])(void *) = {blocked, sleeping, spinning, ending};
    pthread_t threads[4];
    CHECK(atexit(last) == 0);
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, routines[i], NULL) == 0);
    pthread_join(threads[0], NULL);
    CHECK(!"reached");
}
