// pthread_exit: from inside a call, with the result for the joiner; cleanup handlers run, the rest of the thread does not.
#include "../check.h"
#include <pthread.h>
#include <stdint.h>

static int cleaned;

static void clean(void *by) { cleaned += *(int *)by; }

static void leave(int depth) {
    if (depth == 0)
        pthread_exit((void *)(intptr_t)7);
    leave(depth - 1);
    CHECK(!"reached");
}

static void *worker(void *unused) {
    int one = 1;
    pthread_cleanup_push(clean, &one);
    leave(3);
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void) {
    pthread_t thread;
    void *result;
    CHECK(pthread_create(&thread, NULL, worker, NULL) == 0);
    CHECK(pthread_join(thread, &result) == 0);
    CHECK((intptr_t)result == 7 && cleaned == 1);
    puts("ok");
}
