// A bank with two accounts. Each clerk moves money from one to the other. To change a balance, a clerk looks it up and writes
// the new one down; both steps hold the account's lock, but not in one go: between them the other clerk can write the same
// balance, and that change is then lost. A thousand runs pass. From one of them Threadbare finds those that do not:
//
//     threadbare run examples/bank.c

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

static struct account accounts[2] = {{PTHREAD_MUTEX_INITIALIZER, 100}, {PTHREAD_MUTEX_INITIALIZER, 100}};

static void change(struct account *account, int by) {
    pthread_mutex_lock(&account->lock);
    int seen = account->balance;
    pthread_mutex_unlock(&account->lock);
    pthread_mutex_lock(&account->lock);
    account->balance = seen + by;
    pthread_mutex_unlock(&account->lock);
}

static void *clerk(void *argument) {
    int from = *(int *)argument;
    change(&accounts[from], -10);
    change(&accounts[1 - from], 10);
    return NULL;
}

int main(void) {
    int from[] = {0, 1};
    pthread_t clerks[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&clerks[i], NULL, clerk, &from[i]);
        usleep(5000); // nobody comes to work in the very moment that another one does
    }
    for (int i = 0; i < 2; i++)
        pthread_join(clerks[i], NULL);
    printf("%d and %d\n", accounts[0].balance, accounts[1].balance);
    assert(accounts[0].balance + accounts[1].balance == 200);
    return 0;
}
