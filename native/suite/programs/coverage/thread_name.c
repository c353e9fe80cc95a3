// pthread_setname_np, pthread_getname_np: by the thread itself and by another; names are at most 15 bytes long.
#include "../check.h"
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

static sem_t named, asked;

static void *worker(void *unused) {
    CHECK(pthread_setname_np(pthread_self(), "worker") == 0);
    CHECK(sem_post(&named) == 0);
    CHECK(sem_wait(&asked) == 0);
    return NULL;
}

int main(void) {
    pthread_t thread;
    char name[16];
    CHECK(sem_init(&named, 0, 0) == 0 && sem_init(&asked, 0, 0) == 0);
    CHECK(pthread_create(&thread, NULL, worker, NULL) == 0);
    CHECK(sem_wait(&named) == 0);
    CHECK(pthread_getname_np(thread, name, sizeof name) == 0 && strcmp(name, "worker") == 0);
    CHECK(pthread_setname_np(thread, "more than fifteen") == ERANGE);
    CHECK(pthread_setname_np(thread, "renamed") == 0);
    CHECK(pthread_getname_np(thread, name, sizeof name) == 0 && strcmp(name, "renamed") == 0);
    CHECK(sem_post(&asked) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    puts("ok");
}
