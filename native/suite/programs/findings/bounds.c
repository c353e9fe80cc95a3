// The place that was free a moment ago lies behind the end: another thread has taken the last ones meanwhile.
// finds: crash 18: none
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int used;
static int *table;

static void *add(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int mine = used;
    pthread_mutex_unlock(&lock);
    // Nobody has looked whether there is room.
    //
    table[mine] = 7;
    return NULL;
}

static void *more(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    used = 4;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    table = calloc(4, sizeof *table);
    pthread_t a, b;
    pthread_create(&a, NULL, add, NULL);
    pthread_create(&b, NULL, more, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%d\n", table[0]);
    return 0;
}
