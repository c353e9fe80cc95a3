// Dining philosophers who take the lower fork first: no deadlock.
//
// prints: 5 philosophers ate 10 times each
#include "check.h"
#include <pthread.h>

enum { COUNT = 5, MEALS = 10 };

static pthread_mutex_t forks[COUNT];
static int meals[COUNT], in_use[COUNT];

static void *philosopher(void *argument) {
    int me = *(int *)argument;
    int low = me < (me + 1) % COUNT ? me : (me + 1) % COUNT, high = me + (me + 1) % COUNT - low;
    for (int i = 0; i < MEALS; i++) {
        pthread_mutex_lock(&forks[low]);
        pthread_mutex_lock(&forks[high]);
        CHECK(in_use[low]++ == 0 && in_use[high]++ == 0);
        meals[me]++;
        in_use[low]--;
        in_use[high]--;
        pthread_mutex_unlock(&forks[high]);
        pthread_mutex_unlock(&forks[low]);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[COUNT];
    int names[COUNT];
    for (int i = 0; i < COUNT; i++)
        CHECK(pthread_mutex_init(&forks[i], NULL) == 0);
    for (int i = 0; i < COUNT; i++) {
        names[i] = i;
        CHECK(pthread_create(&threads[i], NULL, philosopher, &names[i]) == 0);
    }
    for (int i = 0; i < COUNT; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < COUNT; i++)
        CHECK(meals[i] == MEALS);
    printf("%d philosophers ate %d times each\n", COUNT, MEALS);
}
