// pthread_key_create, setspecific, getspecific, key_delete: a value for each thread; destructors run at its end, again if they
// set values anew, and not for null or for deleted keys.
#include "../check.h"
#include <pthread.h>
#include <semaphore.h>

static pthread_key_t counted, again, doomed;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t set, deleted;
static int sum, rounds;

static void add(void *value) {
    pthread_mutex_lock(&mutex);
    sum += *(int *)value;
    pthread_mutex_unlock(&mutex);
    free(value);
}

static void set_again(void *value) {
    pthread_mutex_lock(&mutex);
    rounds++;
    pthread_mutex_unlock(&mutex);
    if (value == &sum)
        CHECK(pthread_setspecific(again, &rounds) == 0);
}

static void never(void *value) { CHECK(!"the destructor of a deleted key"); }

static void *worker(void *argument) {
    CHECK(pthread_getspecific(counted) == NULL);
    int *value = malloc(sizeof *value);
    *value = *(int *)argument;
    CHECK(pthread_setspecific(counted, value) == 0);
    CHECK(pthread_setspecific(again, &sum) == 0);
    CHECK(pthread_setspecific(doomed, &sum) == 0);
    CHECK(sem_post(&set) == 0 && sem_wait(&deleted) == 0);
    CHECK(pthread_getspecific(counted) == value);
    return NULL;
}

static void *idle(void *unused) { return NULL; }

int main(void) {
    pthread_t threads[4];
    int numbers[3] = {1, 20, 300};
    CHECK(sem_init(&set, 0, 0) == 0 && sem_init(&deleted, 0, 0) == 0);
    CHECK(pthread_key_create(&counted, add) == 0);
    CHECK(pthread_key_create(&again, set_again) == 0);
    CHECK(pthread_key_create(&doomed, never) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, &numbers[i]) == 0);
    CHECK(pthread_create(&threads[3], NULL, idle, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(sem_wait(&set) == 0);
    CHECK(pthread_key_delete(doomed) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(sem_post(&deleted) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(sum == 321 && rounds == 6);
    CHECK(pthread_setspecific(doomed, &sum) == EINVAL);
    puts("ok");
}
