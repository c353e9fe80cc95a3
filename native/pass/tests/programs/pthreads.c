// A program with threads, a mutex, a condition variable, a semaphore, a barrier and once.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t ready = PTHREAD_COND_INITIALIZER; static pthread_barrier_t barrier; static sem_t tokens; static pthread_once_t once = PTHREAD_ONCE_INIT;
static int turn, total, started;
static void init(void) { started++; }
static void *worker(void *argument) {
  int me = *(int *)argument;
  pthread_once(&once, init);
  pthread_barrier_wait(&barrier);
  for (int round = 0; round < 5; round++) {
    pthread_mutex_lock(&lock);
    while (turn != me) pthread_cond_wait(&ready, &lock);
    total = total * 3 + me; turn = (turn + 1) % 3;
    pthread_cond_broadcast(&ready); pthread_mutex_unlock(&lock);
  }
  sem_post(&tokens);
  return NULL;
}
int main(void) {
  pthread_t t[3]; int names[3] = {0, 1, 2};
  pthread_barrier_init(&barrier, NULL, 3); sem_init(&tokens, 0, 0);
  for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, worker, &names[i]);
  for (int i = 0; i < 3; i++) sem_wait(&tokens);
  for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
  printf("%d %d %d\n", total, turn, started);
}
