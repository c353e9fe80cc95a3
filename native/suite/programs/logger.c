// A logger: threads format lines into a ring of buffers, one thread writes them out, in the order of their numbers.
//
// prints: 24 lines, 8 of each thread, in order
#include "check.h"
#include <pthread.h>
#include <string.h>

enum { RING = 4, THREADS = 3, EACH = 8 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static char ring[RING][32];
static int filled[RING];
static int reserved, written, closed;

static void log_line(int thread, int number) {
    char line[32];
    int length = snprintf(line, sizeof line, "thread %d line %d", thread, number);
    pthread_mutex_lock(&mutex);
    int mine = reserved++;
    while (mine - written >= RING)
        pthread_cond_wait(&changed, &mutex);
    memcpy(ring[mine % RING], line, length + 1);
    filled[mine % RING] = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static void *worker(void *argument) {
    for (int i = 0; i < EACH; i++)
        log_line(*(int *)argument, i);
    return NULL;
}

static void *writer(void *argument) {
    FILE *file = argument;
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (!filled[written % RING] && !(closed && written == reserved))
            pthread_cond_wait(&changed, &mutex);
        if (!filled[written % RING])
            break;
        fprintf(file, "%s\n", ring[written % RING]);
        filled[written % RING] = 0;
        written++;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS], out;
    int names[THREADS] = {0, 1, 2}, next[THREADS] = {0}, lines = 0;
    char line[64];
    FILE *file = tmpfile();
    CHECK(file);
    CHECK(pthread_create(&out, NULL, writer, file) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, &names[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    pthread_mutex_lock(&mutex);
    closed = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    CHECK(pthread_join(out, NULL) == 0);
    rewind(file);
    while (fgets(line, sizeof line, file)) {
        int thread, number;
        CHECK(sscanf(line, "thread %d line %d", &thread, &number) == 2);
        CHECK(number == next[thread]++);
        lines++;
    }
    CHECK(fclose(file) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(next[i] == EACH);
    printf("%d lines, %d of each thread, in order\n", lines, EACH);
}
