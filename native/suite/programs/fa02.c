// fa02 of PRUNE, section 6, in its spirit: two threads add to a shared sum in rounds; each addition is two critical sections,
// a numeric assertion speaks about the end.
//
// bug: what is read in the first critical section may be old in the second.
// prints: sum 15, rounds 10
// finds: assertion 40: assertion
// finds: atomicity 23 26: assertion
// finds: atomicity 26: assertion
// finds: atomicity 27: assertion
#include "check.h"
#include <pthread.h>
#include <threadbare.h>

enum { ROUNDS = 5 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int sum, rounds;

static void *adder(void *argument) {
    int by = *(int *)argument;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        int seen = sum;
        pthread_mutex_unlock(&mutex);
        pthread_mutex_lock(&mutex);
        sum = seen + by;
        rounds = rounds + 1;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int by[2] = {1, 2};
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, adder, &by[i]) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    TB_ASSERT(sum == 15);
    printf("sum %d, rounds %d\n", sum, rounds);
}
