// Asynchronous cancellation: ends a thread that reaches no cancellation point.
#include "../check.h"
#include <pthread.h>
#include <semaphore.h>

static sem_t started;
static volatile int turns;

static void *worker(void *unused) {
    int type;
    CHECK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type) == 0 && type == PTHREAD_CANCEL_DEFERRED);
    CHECK(sem_post(&started) == 0);
    for (;;)
        turns = 1;
    return NULL;
}

int main(void) {
    pthread_t thread;
    void *result;
    CHECK(sem_init(&started, 0, 0) == 0);
    CHECK(pthread_create(&thread, NULL, worker, NULL) == 0);
    CHECK(sem_wait(&started) == 0);
    CHECK(pthread_cancel(thread) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    puts("ok");
}
