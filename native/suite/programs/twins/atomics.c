#include <pthread.h>
#include <stdint.h>

int x, flag, winner, seen;
uint8_t small;
int64_t large;

static void *worker(void *argument) {
    int me = (int)(intptr_t)argument;
    __atomic_fetch_add(&x, me, __ATOMIC_RELAXED);
    __atomic_fetch_or(&small, 4, __ATOMIC_ACQ_REL);
    __atomic_fetch_sub(&large, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_xor(&x, 8, __ATOMIC_RELEASE);
    __atomic_fetch_and(&x, 255, __ATOMIC_ACQUIRE);
    int expected = 0;
    if (__atomic_compare_exchange_n(&flag, &expected, me, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        winner = me;
    int old = __atomic_exchange_n(&x, 40, __ATOMIC_SEQ_CST);
    __atomic_store_n(&seen, old, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    int again = __atomic_load_n(&seen, __ATOMIC_ACQUIRE);
    __atomic_store_n(&seen, again + 1, __ATOMIC_SEQ_CST);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, (void *)1);
    pthread_create(&b, 0, worker, (void *)2);
    pthread_join(a, 0);
    pthread_join(b, 0);
    int w = winner;
    return w == 1 || w == 2 ? 0 : 1;
}
