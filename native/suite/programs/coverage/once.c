// pthread_once: the routine runs once, and nobody passes before it has ended.
#include "../check.h"
#include <pthread.h>
#include <sched.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int runs, finished;

static void initialise(void) {
    runs++;
    sched_yield();
    finished = 1;
}

static void *worker(void *unused) {
    for (int i = 0; i < 5; i++) {
        CHECK(pthread_once(&once, initialise) == 0);
        CHECK(finished == 1 && runs == 1);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(runs == 1);
    puts("ok");
}
