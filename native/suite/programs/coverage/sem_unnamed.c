// sem_init, sem_wait, sem_post, sem_destroy: as many pass as there are tokens, and a post wakes a waiter.
#include "../check.h"
#include <pthread.h>
#include <semaphore.h>

static sem_t tokens, counting, turn[2];
static int inside, most, turns;

static void *worker(void *unused) {
    for (int i = 0; i < 10; i++) {
        CHECK(sem_wait(&tokens) == 0);
        CHECK(sem_wait(&counting) == 0);
        inside++;
        if (inside > most)
            most = inside;
        CHECK(sem_post(&counting) == 0);
        CHECK(sem_wait(&counting) == 0);
        inside--;
        CHECK(sem_post(&counting) == 0);
        CHECK(sem_post(&tokens) == 0);
    }
    return NULL;
}

static void *player(void *argument) {
    int me = *(int *)argument;
    for (int i = 0; i < 10; i++) {
        CHECK(sem_wait(&turn[me]) == 0);
        CHECK(turns % 2 == me);
        turns++;
        CHECK(sem_post(&turn[1 - me]) == 0);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    int numbers[2] = {0, 1};
    CHECK(sem_init(&tokens, 0, 2) == 0 && sem_init(&counting, 0, 1) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(inside == 0 && most >= 1 && most <= 2);
    CHECK(sem_init(&turn[0], 0, 1) == 0 && sem_init(&turn[1], 0, 0) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, player, &numbers[i]) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(turns == 20);
    CHECK(sem_destroy(&tokens) == 0 && sem_destroy(&counting) == 0);
    puts("ok");
}
