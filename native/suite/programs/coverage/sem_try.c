// sem_trywait, sem_getvalue: EAGAIN when there is no token; tokens are neither lost nor made.
#include "../check.h"
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t semaphore;
static int taken[2];

static void *taker(void *argument) {
    int *count = argument;
    while (sem_trywait(&semaphore) == 0)
        ++*count;
    CHECK(errno == EAGAIN);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int tokens;
    CHECK(sem_init(&semaphore, 0, SEM_VALUE_MAX + 1u) == -1 && errno == EINVAL);
    CHECK(sem_init(&semaphore, 0, 20) == 0);
    CHECK(sem_getvalue(&semaphore, &tokens) == 0 && tokens == 20);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, taker, &taken[i]) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(taken[0] + taken[1] == 20);
    CHECK(sem_getvalue(&semaphore, &tokens) == 0 && tokens == 0);
    CHECK(sem_post(&semaphore) == 0);
    CHECK(sem_getvalue(&semaphore, &tokens) == 0 && tokens == 1);
    CHECK(sem_trywait(&semaphore) == 0);
    puts("ok");
}
