// fork in a program with threads: the child has the forking thread alone, and runs on; the parent's threads go on.
//
// outside: numbers of processes
#include "../check.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *worker(void *unused) {
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    pthread_mutex_lock(&mutex);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int seen = counter;
        pthread_mutex_unlock(&mutex);
        pthread_t mine;
        CHECK(pthread_create(&mine, NULL, worker, NULL) == 0);
        CHECK(pthread_join(mine, NULL) == 0);
        _exit(counter == seen + 20 ? 42 : 1);
    }
    pthread_mutex_unlock(&mutex);
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 42);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(counter == 40);
    puts("ok");
}
