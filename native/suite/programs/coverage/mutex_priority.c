// Mutexes with priority inheritance exclude as others do; priority ceilings are kept.
#include "../check.h"
#include <pthread.h>

static pthread_mutex_t mutex;
static int counter;

static void *worker(void *unused) {
    for (int i = 0; i < 40; i++) {
        CHECK(pthread_mutex_lock(&mutex) == 0);
        counter++;
        CHECK(pthread_mutex_unlock(&mutex) == 0);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    pthread_mutexattr_t attributes;
    int protocol, ceiling;
    CHECK(pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) == 0);
    CHECK(pthread_mutexattr_getprotocol(&attributes, &protocol) == 0 && protocol == PTHREAD_PRIO_INHERIT);
    CHECK(pthread_mutex_init(&mutex, &attributes) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(counter == 120);
    CHECK(pthread_mutex_destroy(&mutex) == 0);

    CHECK(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_PROTECT) == 0);
    CHECK(pthread_mutexattr_setprioceiling(&attributes, 5) == 0);
    CHECK(pthread_mutexattr_getprioceiling(&attributes, &ceiling) == 0 && ceiling == 5);
    CHECK(pthread_mutex_init(&mutex, &attributes) == 0);
    CHECK(pthread_mutex_getprioceiling(&mutex, &ceiling) == 0 && ceiling == 5);
    CHECK(pthread_mutex_destroy(&mutex) == 0);
    CHECK(pthread_mutexattr_destroy(&attributes) == 0);
    puts("ok");
}
