// Returning from main, while other threads run: the process ends with main's status.
#include "../check.h"
#include <pthread.h>
#include <stdatomic.h>

static atomic_int turns;

static void *spinning(void *unused) {
    for (;;)
        turns = 1;
    return NULL;
}

int main(void) {
    pthread_t thread;
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&thread, NULL, spinning, NULL) == 0);
    while (turns == 0)
        continue;
    puts("ok");
    return 0;
}
