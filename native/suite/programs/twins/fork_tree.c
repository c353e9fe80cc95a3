#include <pthread.h>
#include <stdint.h>

int leaves, total;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *leaf(void *argument) {
    int weight = (int)(intptr_t)argument;
    pthread_mutex_lock(&m);
    int l = leaves;
    leaves = l + weight;
    pthread_mutex_unlock(&m);
    return 0;
}

static void *branch(void *argument) {
    intptr_t weight = (intptr_t)argument;
    pthread_t left, right;
    pthread_create(&left, 0, leaf, (void *)weight);
    pthread_create(&right, 0, leaf, (void *)(weight + 1));
    int t = total;
    total = t + 1;
    pthread_join(left, 0);
    pthread_join(right, 0);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, branch, (void *)1);
    pthread_create(&b, 0, branch, (void *)10);
    pthread_join(b, 0);
    pthread_join(a, 0);
    int l = leaves;
    return l == 24 ? 0 : 1;
}
