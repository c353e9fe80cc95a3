// sem_open, sem_close, sem_unlink: one name is one semaphore; O_EXCL and missing names are errors.
#include "../check.h"
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>

static char name[64];
static int handed;

static void *worker(void *unused) {
    sem_t *same = sem_open(name, 0);
    CHECK(same != SEM_FAILED);
    handed = 9;
    CHECK(sem_post(same) == 0);
    CHECK(sem_close(same) == 0);
    return NULL;
}

int main(int count, char **words) {
    pthread_t thread;
    int tokens;
    unsigned hash = count;
    // The program's path keeps programs that run at the same time apart.
    for (const char *c = words[0]; *c; c++)
        hash = hash * 31 + *c;
    snprintf(name, sizeof name, "/threadbare-coverage-%x", hash);
    sem_unlink(name);
    CHECK(sem_open(name, 0) == SEM_FAILED && errno == ENOENT);
    sem_t *semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
    CHECK(semaphore != SEM_FAILED);
    CHECK(sem_open(name, O_CREAT | O_EXCL, 0600, 0) == SEM_FAILED && errno == EEXIST);
    CHECK(pthread_create(&thread, NULL, worker, NULL) == 0);
    CHECK(sem_wait(semaphore) == 0);
    CHECK(handed == 9);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(sem_getvalue(semaphore, &tokens) == 0 && tokens == 0);
    CHECK(sem_unlink(name) == 0);
    CHECK(sem_unlink(name) == -1 && errno == ENOENT);
    CHECK(sem_post(semaphore) == 0 && sem_wait(semaphore) == 0);
    CHECK(sem_close(semaphore) == 0);
    puts("ok");
}
