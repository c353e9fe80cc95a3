// pthread_cancel, deferred: at the next cancellation point (pthread_testcancel) and not before; the result is PTHREAD_CANCELED.
#include "../check.h"
#include <pthread.h>
#include <semaphore.h>

static sem_t started, cancelled;
static int before, after;

static void *worker(void *unused) {
    int type, state;
    CHECK(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type) == 0 && type == PTHREAD_CANCEL_DEFERRED);
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state) == 0 && state == PTHREAD_CANCEL_ENABLE);
    CHECK(sem_post(&started) == 0);
    CHECK(sem_wait(&cancelled) == 0);
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state) == 0 && state == PTHREAD_CANCEL_DISABLE);
    before = 1;
    pthread_testcancel();
    after = 1;
    return NULL;
}

int main(void) {
    pthread_t thread;
    void *result;
    CHECK(sem_init(&started, 0, 0) == 0 && sem_init(&cancelled, 0, 0) == 0);
    CHECK(pthread_create(&thread, NULL, worker, NULL) == 0);
    CHECK(sem_wait(&started) == 0);
    CHECK(pthread_cancel(thread) == 0);
    CHECK(sem_post(&cancelled) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    CHECK(before == 1 && after == 0);
    puts("ok");
}
