// pthread_exit in main: the other threads go on, and the process ends with status 0 when the last of them does.
#include "../check.h"
#include <pthread.h>

static pthread_t first;

static void *worker(void *unused) {
    CHECK(pthread_join(first, NULL) == 0);
    puts("ok");
    return NULL;
}

int main(void) {
    pthread_t thread;
    first = pthread_self();
    CHECK(pthread_create(&thread, NULL, worker, NULL) == 0);
    pthread_exit(NULL);
}
