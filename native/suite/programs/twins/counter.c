#include <pthread.h>
#include <stdint.h>

int safe, unsafe;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *argument) {
    int by = (int)(intptr_t)argument;
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&m);
        int s = safe;
        safe = s + by;
        pthread_mutex_unlock(&m);
        int u = unsafe;
        unsafe = u + by;
    }
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, (void *)1);
    pthread_create(&b, 0, worker, (void *)2);
    pthread_join(a, 0);
    pthread_join(b, 0);
    int s = safe;
    int u = unsafe;
    return s == 9 && u > 0 ? 0 : 1;
}
