// A configuration that many read and one replaces, under a rwlock: nobody sees half of a new one.
//
// prints: version 6, 60 reads, none torn
#include "check.h"
#include <pthread.h>
#include <string.h>

struct config {
    int version;
    char name[16];
    int limits[4];
};

static struct config current = {1, "version 1", {1, 2, 3, 4}};
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int reads, torn;

static void *reader(void *unused) {
    for (int i = 0; i < 20; i++) {
        struct config copy;
        char expected[16];
        pthread_rwlock_rdlock(&lock);
        copy = current;
        pthread_rwlock_unlock(&lock);
        snprintf(expected, sizeof expected, "version %d", copy.version);
        int bad = strcmp(copy.name, expected) != 0;
        for (int k = 0; k < 4; k++)
            bad |= copy.limits[k] != copy.version * (k + 1);
        __atomic_fetch_add(&torn, bad, __ATOMIC_RELAXED);
        __atomic_fetch_add(&reads, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void *writer(void *unused) {
    for (int version = 2; version <= 6; version++) {
        pthread_rwlock_wrlock(&lock);
        current.version = version;
        snprintf(current.name, sizeof current.name, "version %d", version);
        for (int k = 0; k < 4; k++)
            current.limits[k] = version * (k + 1);
        pthread_rwlock_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, i == 1 ? writer : reader, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(torn == 0);
    printf("version %d, %d reads, none torn\n", current.version, reads);
}
