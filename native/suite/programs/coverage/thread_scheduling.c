// pthread_setaffinity_np, pthread_getschedparam, pthread_setschedparam, pthread_getcpuclockid, sched_yield, pthread_yield's
// kin: accepted; they change nothing that a schedule cannot do.
//
// outside: the processor that it runs on, numbers of threads, time that was used
#include "../check.h"
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

static sem_t may_end;

static void *worker(void *unused) {
    CHECK(sched_yield() == 0);
    CHECK(sem_wait(&may_end) == 0);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    cpu_set_t processors;
    struct sched_param parameters;
    int policy, inherit, scope;
    clockid_t clock;
    struct timespec used;
    CHECK(sem_init(&may_end, 0, 0) == 0);
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setinheritsched(&attributes, PTHREAD_INHERIT_SCHED) == 0);
    CHECK(pthread_attr_getinheritsched(&attributes, &inherit) == 0 && inherit == PTHREAD_INHERIT_SCHED);
    CHECK(pthread_attr_setscope(&attributes, PTHREAD_SCOPE_SYSTEM) == 0);
    CHECK(pthread_attr_getscope(&attributes, &scope) == 0 && scope == PTHREAD_SCOPE_SYSTEM);
    CHECK(pthread_attr_setschedpolicy(&attributes, SCHED_OTHER) == 0);
    CHECK(pthread_create(&thread, &attributes, worker, NULL) == 0);
    CHECK(pthread_getaffinity_np(thread, sizeof processors, &processors) == 0);
    CHECK(CPU_COUNT(&processors) >= 1);
    CHECK(pthread_setaffinity_np(thread, sizeof processors, &processors) == 0);
    CHECK(pthread_getschedparam(thread, &policy, &parameters) == 0 && policy == SCHED_OTHER);
    CHECK(pthread_setschedparam(thread, policy, &parameters) == 0);
    CHECK(pthread_setschedprio(thread, parameters.sched_priority) == 0);
    CHECK(pthread_getcpuclockid(thread, &clock) == 0 && clock_gettime(clock, &used) == 0);
    CHECK(pthread_setconcurrency(2) == 0 && pthread_getconcurrency() == 2);
    CHECK(sem_post(&may_end) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_attr_destroy(&attributes) == 0);
    puts("ok");
}
