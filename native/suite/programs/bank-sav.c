// The bank of AV, section 6, with a fix that removes some of the violations: withdrawing is guarded by a condition, paying in
// is not.
//
// bug: a transfer reads and writes the second account in two critical sections, and another one in between is lost.
// prints: total 300, first 100, second 200
// finds: assertion 81: assertion
// finds: atomicity 44 53: assertion
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
    TB_ATOMIC_BEGIN;
    step_up();
    int from = get(0);
    set(0, from - amount);
    step_down();
    int to = get(1);
    set(1, to + amount);
    TB_ATOMIC_END;
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
