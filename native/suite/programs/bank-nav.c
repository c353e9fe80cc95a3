// The bank of AV, section 6, with a fix that removes all violations: a condition variable and a variable that says that
// somebody is at the counter. The locks of the accounts are as they were, so that whoever looks at locks only still sees
// violations.
//
// prints: total 300, first 100, second 200
#include "check.h"
#include <pthread.h>
#include <stdint.h>
#include <threadbare.h>

#ifndef THREADS
#define THREADS 2
#define ROUNDS 3
#endif

static pthread_mutex_t bank = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int balance[2] = {160, 140};

static pthread_mutex_t counter = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;
static int busy;

static void step_up(void) {
    pthread_mutex_lock(&counter);
    while (busy)
        pthread_cond_wait(&left, &counter);
    busy = 1;
    pthread_mutex_unlock(&counter);
}

static void step_down(void) {
    pthread_mutex_lock(&counter);
    busy = 0;
    pthread_cond_signal(&left);
    pthread_mutex_unlock(&counter);
}

static int get(int account) {
    pthread_mutex_lock(&bank);
    pthread_mutex_lock(&locks[account]);
    int money = balance[account];
    pthread_mutex_unlock(&locks[account]);
    pthread_mutex_unlock(&bank);
    return money;
}

static void set(int account, int money) {
    pthread_mutex_lock(&bank);
    pthread_mutex_lock(&locks[account]);
    balance[account] = money;
    pthread_mutex_unlock(&locks[account]);
    pthread_mutex_unlock(&bank);
}

static void transfer(int amount) {
    step_up();
    TB_ATOMIC_BEGIN;
    int from = get(0);
    set(0, from - amount);
    int to = get(1);
    set(1, to + amount);
    TB_ATOMIC_END;
    step_down();
}

static void *clerk(void *amount) {
    for (int i = 0; i < ROUNDS; i++)
        transfer((int)(intptr_t)amount);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (intptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, clerk, (void *)(5 + 10 * i)) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    TB_ASSERT(balance[0] + balance[1] == 300);
    printf("total %d, first %d, second %d\n", balance[0] + balance[1], balance[0], balance[1]);
}
