// Robust mutexes: when the owner ends, the next one is told (EOWNERDEAD), whether it blocks already or comes later; with
// pthread_mutex_consistent the mutex lives on, without it nobody gets it again (ENOTRECOVERABLE).
#include "../check.h"
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t mutex;
static sem_t locked, may_die;
static int deaths, entries;

static void *dying(void *unused) {
    CHECK(pthread_mutex_lock(&mutex) == 0);
    CHECK(sem_post(&locked) == 0);
    CHECK(sem_wait(&may_die) == 0);
    return NULL;
}

static void *heir(void *unused) {
    int answer = pthread_mutex_lock(&mutex);
    CHECK(answer == 0 || answer == EOWNERDEAD);
    if (answer == EOWNERDEAD) {
        deaths++;
        CHECK(pthread_mutex_consistent(&mutex) == 0);
    }
    entries++;
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    return NULL;
}

int main(void) {
    pthread_t owner, heirs[2];
    pthread_mutexattr_t attributes;
    int robust;
    CHECK(sem_init(&locked, 0, 0) == 0 && sem_init(&may_die, 0, 0) == 0);
    CHECK(pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0);
    CHECK(pthread_mutexattr_getrobust(&attributes, &robust) == 0 && robust == PTHREAD_MUTEX_ROBUST);
    CHECK(pthread_mutex_init(&mutex, &attributes) == 0);

    CHECK(pthread_create(&owner, NULL, dying, NULL) == 0 && sem_wait(&locked) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&heirs[i], NULL, heir, NULL) == 0);
    CHECK(sem_post(&may_die) == 0);
    CHECK(pthread_join(owner, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(heirs[i], NULL) == 0);
    CHECK(deaths == 1 && entries == 2);

    CHECK(sem_post(&may_die) == 0);
    CHECK(pthread_create(&owner, NULL, dying, NULL) == 0 && pthread_join(owner, NULL) == 0);
    CHECK(pthread_mutex_trylock(&mutex) == EOWNERDEAD);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_mutex_lock(&mutex) == ENOTRECOVERABLE);
    CHECK(pthread_mutex_trylock(&mutex) == ENOTRECOVERABLE);
    CHECK(pthread_mutex_destroy(&mutex) == 0);
    CHECK(pthread_mutexattr_destroy(&attributes) == 0);
    puts("ok");
}
