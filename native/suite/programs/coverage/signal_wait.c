// sigwait, sigwaitinfo, sigtimedwait: blocked signals are taken by the thread that waits for them; time-outs are EAGAIN.
//
// outside: numbers of processes
#include "../check.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static sigset_t set;
static int order[3];

static void *waiter(void *unused) {
    siginfo_t information;
    CHECK(sigwait(&set, &order[0]) == 0);
    order[1] = sigwaitinfo(&set, &information);
    CHECK(information.si_signo == order[1]);
    struct timespec length = milliseconds(2), until = from_now(CLOCK_MONOTONIC, 2);
    CHECK(sigtimedwait(&set, &information, &length) == -1 && errno == EAGAIN);
    CHECK(has_come(CLOCK_MONOTONIC, until));
    return NULL;
}

int main(void) {
    pthread_t thread;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, waiter, NULL) == 0);
    CHECK(pthread_kill(thread, SIGUSR1) == 0);
    CHECK(kill(getpid(), SIGUSR2) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    // Both were waited for; of two that are pending the kernel may give either first.
    CHECK(order[0] + order[1] == SIGUSR1 + SIGUSR2);
    puts("ok");
}
