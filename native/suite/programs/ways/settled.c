#include <pthread.h>

volatile int x, z;

static void *copier(void *unused) {
    if (x == 1)
        z = x;
    return unused;
}

static void *looker(void *unused) {
    x = 1;
    if (z < 2)
        return unused;
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, copier, 0);
    pthread_create(&b, 0, looker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
