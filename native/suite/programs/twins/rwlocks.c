#include <pthread.h>

int first, second, torn, missed;
pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;

static void *writer(void *unused) {
    (void)unused;
    for (int i = 0; i < 2; i++) {
        pthread_rwlock_wrlock(&rw);
        int f = first;
        first = f + 1;
        int s = second;
        second = s + 1;
        pthread_rwlock_unlock(&rw);
    }
    return 0;
}

static void *reader(void *unused) {
    (void)unused;
    for (int i = 0; i < 2; i++) {
        pthread_rwlock_rdlock(&rw);
        int f = first;
        int s = second;
        pthread_rwlock_unlock(&rw);
        if (f != s)
            torn = 1;
    }
    if (pthread_rwlock_tryrdlock(&rw) == 0) {
        // Used by nothing, as in the model; volatile, so that it is read all the same.
        int f = *(volatile int *)&first;
        (void)f;
        pthread_rwlock_unlock(&rw);
    } else {
        missed = 1;
    }
    if (pthread_rwlock_trywrlock(&rw) == 0) {
        first = 10;
        second = 10;
        pthread_rwlock_unlock(&rw);
    }
    return 0;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_create(&c, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    int t = torn;
    return t;
}
