// Two locks in both orders, but whoever comes second gives up after a while: nobody waits for ever.
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static struct timespec deadline;
static int both;

static void take(pthread_mutex_t *own, pthread_mutex_t *other) {
    pthread_mutex_lock(own);
    if (pthread_mutex_timedlock(other, &deadline) == 0) {
        both++;
        pthread_mutex_unlock(other);
    }
    pthread_mutex_unlock(own);
}

static void *there(void *unused) {
    (void)unused;
    take(&first, &second);
    return NULL;
}

static void *back(void *unused) {
    (void)unused;
    take(&second, &first);
    return NULL;
}

int main(void) {
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += 1;
    pthread_t one, other;
    pthread_create(&one, NULL, there, NULL);
    pthread_create(&other, NULL, back, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    puts("done");
    return 0;
}
