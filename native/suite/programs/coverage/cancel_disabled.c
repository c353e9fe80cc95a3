// pthread_setcancelstate: a thread that has disabled cancellation passes all cancellation points and returns as it likes.
#include "../check.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <unistd.h>

static sem_t started, cancelled;

static void *worker(void *unused) {
    int state;
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state) == 0 && state == PTHREAD_CANCEL_ENABLE);
    CHECK(sem_post(&started) == 0);
    CHECK(sem_wait(&cancelled) == 0);
    usleep(100);
    pthread_testcancel();
    return (void *)(intptr_t)5;
}

int main(void) {
    pthread_t thread;
    void *result;
    CHECK(sem_init(&started, 0, 0) == 0 && sem_init(&cancelled, 0, 0) == 0);
    CHECK(pthread_create(&thread, NULL, worker, NULL) == 0);
    CHECK(sem_wait(&started) == 0);
    CHECK(pthread_cancel(thread) == 0);
    CHECK(sem_post(&cancelled) == 0);
    CHECK(pthread_join(thread, &result) == 0 && (intptr_t)result == 5);
    puts("ok");
}
