// pthread_detach: by the thread itself and by its creator; a detached thread still does its work.
#include "../check.h"
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int done;

static void *worker(void *itself) {
    if (itself)
        CHECK(pthread_detach(pthread_self()) == 0);
    pthread_mutex_lock(&mutex);
    done++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, worker, &done) == 0);
    CHECK(pthread_create(&thread, NULL, worker, NULL) == 0);
    CHECK(pthread_detach(thread) == 0);
    pthread_mutex_lock(&mutex);
    while (done < 2)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    puts("ok");
}
