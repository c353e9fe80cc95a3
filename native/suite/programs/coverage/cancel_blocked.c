// Cancellation of threads that block: in sleep, sem_wait, pthread_join, read and pause.
#include "../check.h"
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static sem_t started, never;
static pthread_t sleeper;
static int ends[2];

static void *sleeping(void *unused) {
    CHECK(sem_post(&started) == 0);
    sleep(1000);
    return NULL;
}

static void *waiting(void *unused) {
    CHECK(sem_post(&started) == 0);
    sem_wait(&never);
    return NULL;
}

static void *joining(void *unused) {
    CHECK(sem_post(&started) == 0);
    pthread_join(sleeper, NULL);
    return NULL;
}

static void *reading(void *unused) {
    char byte;
    CHECK(sem_post(&started) == 0);
    return read(ends[0], &byte, 1) == 1 ? &started : NULL;
}

static void *pausing(void *unused) {
    CHECK(sem_post(&started) == 0);
    pause();
    return NULL;
}

int main(void) {
    void *(*const routines[])(void *) = {joining, sleeping, waiting, reading, pausing};
    pthread_t threads[5];
    void *result;
    CHECK(sem_init(&started, 0, 0) == 0 && sem_init(&never, 0, 0) == 0 && pipe(ends) == 0);
    CHECK(pthread_create(&sleeper, NULL, sleeping, NULL) == 0);
    for (int i = 0; i < 5; i++)
        CHECK(pthread_create(&threads[i], NULL, routines[i], NULL) == 0);
    for (int i = 0; i < 6; i++)
        CHECK(sem_wait(&started) == 0);
    for (int i = 0; i < 5; i++) {
        CHECK(pthread_cancel(threads[i]) == 0);
        CHECK(pthread_join(threads[i], &result) == 0 && result == PTHREAD_CANCELED);
    }
    CHECK(pthread_cancel(sleeper) == 0);
    CHECK(pthread_join(sleeper, &result) == 0 && result == PTHREAD_CANCELED);
    puts("ok");
}
