// The bank of AV, section 6: threads move money between two accounts, each access under nested locks of its own.
//
// bug: a transfer reads both balances in one pair of critical sections and writes them in another, so that a transfer in
// between is lost.
// prints: total 300, first 100, second 200
// finds: assertion 60: assertion
// finds: atomicity 25 34: assertion
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
    int from = get(0);
    set(0, from - amount);
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
