// Two customers of one account. Each first looks whether there is enough money, and then takes it. Both steps hold the
// lock, but not in one go: between them the other customer can take the money that the first has seen.
//
//     threadbare run examples/bank.c                              passes, as nearly every run does
//     threadbare run examples/bank.c --strategy random --seed 8   the account is overdrawn

#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100;

static void *withdraw(void *argument) {
    int amount = *(int *)argument;
    pthread_mutex_lock(&lock);
    int enough = balance >= amount;
    pthread_mutex_unlock(&lock);
    if (enough) {
        pthread_mutex_lock(&lock);
        balance -= amount;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    int amounts[] = {70, 60};
    pthread_t customers[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&customers[i], NULL, withdraw, &amounts[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(customers[i], NULL);
    printf("the balance is %d\n", balance);
    assert(balance >= 0);
    return 0;
}
