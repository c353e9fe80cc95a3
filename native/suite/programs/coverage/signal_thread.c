// pthread_kill, pthread_sigqueue, sigsuspend: the handler runs in the thread that is meant, also while it waits.
#include "../check.h"
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

static sem_t ready, got;
static pthread_t by;

static void handler(int number) {
    by = pthread_self();
    sem_post(&got);
}

static void *suspended(void *unused) {
    sigset_t none;
    sigemptyset(&none);
    CHECK(sem_post(&ready) == 0);
    CHECK(sigsuspend(&none) == -1 && errno == EINTR);
    return NULL;
}

static void *spinning(void *stop) {
    CHECK(sem_post(&ready) == 0);
    while (!__atomic_load_n((int *)stop, __ATOMIC_ACQUIRE))
        continue;
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int stop = 0;
    sigset_t set;
    struct sigaction action = {.sa_handler = handler};
    CHECK(sem_init(&ready, 0, 0) == 0 && sem_init(&got, 0, 0) == 0);
    CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
    CHECK(pthread_create(&threads[0], NULL, spinning, &stop) == 0);
    CHECK(sem_wait(&ready) == 0);
    CHECK(pthread_kill(threads[0], 0) == 0);
    CHECK(pthread_kill(threads[0], SIGUSR2) == 0);
    while (sem_wait(&got) != 0)
        CHECK(errno == EINTR);
    CHECK(pthread_equal(by, threads[0]));
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    CHECK(pthread_join(threads[0], NULL) == 0);

    // Blocked until sigsuspend lets it in.
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    CHECK(pthread_create(&threads[1], NULL, suspended, NULL) == 0);
    CHECK(sem_wait(&ready) == 0);
    CHECK(pthread_sigqueue(threads[1], SIGUSR2, (union sigval){.sival_int = 1}) == 0);
    CHECK(sem_wait(&got) == 0);
    CHECK(pthread_join(threads[1], NULL) == 0);
    CHECK(pthread_equal(by, threads[1]));
    puts("ok");
}
