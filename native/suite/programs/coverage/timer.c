// alarm's kin: setitimer and timer_create with a signal end a pause; the handler runs.
#include "../check.h"
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t alarms, timers;

static void on_alarm(int number) { alarms++; }
static void on_timer(int number) { timers++; }

int main(void) {
    struct sigaction alarm_action = {.sa_handler = on_alarm}, timer_action = {.sa_handler = on_timer};
    sigset_t set, before;
    CHECK(sigaction(SIGALRM, &alarm_action, NULL) == 0 && sigaction(SIGUSR1, &timer_action, NULL) == 0);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigaddset(&set, SIGUSR1);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, &before) == 0);
    struct itimerval in_two = {.it_value = {0, 2000}};
    CHECK(setitimer(ITIMER_REAL, &in_two, NULL) == 0);
    while (alarms == 0)
        CHECK(sigsuspend(&before) == -1 && errno == EINTR);
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec soon = {.it_value = milliseconds(2)};
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    CHECK(timer_settime(timer, 0, &soon, NULL) == 0);
    while (timers == 0)
        CHECK(sigsuspend(&before) == -1 && errno == EINTR);
    CHECK(timer_delete(timer) == 0);
    CHECK(alarms == 1 && timers == 1);
    puts("ok");
}
