// sigaction, raise, kill, sigprocmask: the handler runs in the thread that raises, and waits while the signal is blocked.
//
// outside: numbers of processes
#include "../check.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t handled;
static pthread_t by;

static void handler(int number, siginfo_t *information, void *context) {
    CHECK(number == SIGUSR1);
    handled++;
    by = pthread_self();
}

static void *worker(void *unused) {
    CHECK(raise(SIGUSR1) == 0);
    CHECK(handled == 1 && pthread_equal(by, pthread_self()));
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigset_t set, pending;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, worker, NULL) == 0 && pthread_join(thread, NULL) == 0);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    CHECK(kill(getpid(), SIGUSR1) == 0);
    CHECK(handled == 1);
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1));
    CHECK(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0);
    CHECK(handled == 2 && pthread_equal(by, pthread_self()));
    puts("ok");
}
