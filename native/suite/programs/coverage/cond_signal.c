// pthread_cond_init, wait, signal, destroy: each signal wakes a waiter, the mutex is held again when wait returns.
#include "../check.h"
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled, emptied;
static int slot, full, inside;

static void *producer(void *unused) {
    for (int i = 1; i <= 30; i++) {
        CHECK(pthread_mutex_lock(&mutex) == 0);
        while (full)
            CHECK(pthread_cond_wait(&emptied, &mutex) == 0);
        CHECK(++inside == 1);
        slot = i;
        full = 1;
        inside--;
        CHECK(pthread_cond_signal(&filled) == 0);
        CHECK(pthread_mutex_unlock(&mutex) == 0);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    CHECK(pthread_cond_init(&filled, NULL) == 0 && pthread_cond_init(&emptied, NULL) == 0);
    CHECK(pthread_cond_signal(&filled) == 0);
    CHECK(pthread_create(&thread, NULL, producer, NULL) == 0);
    for (int i = 1; i <= 30; i++) {
        CHECK(pthread_mutex_lock(&mutex) == 0);
        while (!full)
            CHECK(pthread_cond_wait(&filled, &mutex) == 0);
        CHECK(++inside == 1);
        CHECK(slot == i);
        full = 0;
        inside--;
        CHECK(pthread_cond_signal(&emptied) == 0);
        CHECK(pthread_mutex_unlock(&mutex) == 0);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_cond_destroy(&filled) == 0 && pthread_cond_destroy(&emptied) == 0);
    puts("ok");
}
