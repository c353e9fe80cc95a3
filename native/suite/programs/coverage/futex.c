// Raw futex calls: wait while a word has a value, wake so many, time-outs on both clocks, bitsets, requeueing.
#include "../check.h"
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic uint32_t word, other, mutex;
static atomic_int waiting, passed;
static int counter;

static long futex(_Atomic uint32_t *at, int operation, uint32_t value, const void *time, _Atomic uint32_t *second,
                  uint32_t third) {
    return syscall(SYS_futex, at, operation, value, time, second, third);
}

// Drepper's mutex with three states: 0 free, 1 held, 2 held with waiters.
static void lock(void) {
    uint32_t seen = 0;
    if (atomic_compare_exchange_strong(&mutex, &seen, 1))
        return;
    while (atomic_exchange(&mutex, 2) != 0)
        futex(&mutex, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static void unlock(void) {
    if (atomic_exchange(&mutex, 0) == 2)
        futex(&mutex, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *counting(void *unused) {
    for (int i = 0; i < 20; i++) {
        lock();
        counter++;
        unlock();
    }
    return NULL;
}

static void *waiter(void *unused) {
    waiting++;
    while (word == 0)
        CHECK(futex(&word, FUTEX_WAIT, 0, NULL, NULL, 0) == 0 || errno == EAGAIN || errno == EINTR);
    passed++;
    return NULL;
}

static void *moved(void *unused) {
    CHECK(futex(&word, FUTEX_WAIT, 0, NULL, NULL, 0) == 0);
    passed++;
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    // A word of another value, and time-outs.
    CHECK(futex(&word, FUTEX_WAIT, 1, NULL, NULL, 0) == -1 && errno == EAGAIN);
    struct timespec length = milliseconds(2), until = from_now(CLOCK_MONOTONIC, 2);
    CHECK(futex(&word, FUTEX_WAIT, 0, &length, NULL, 0) == -1 && errno == ETIMEDOUT);
    CHECK(has_come(CLOCK_MONOTONIC, until));
    until = from_now(CLOCK_MONOTONIC, 2);
    CHECK(futex(&word, FUTEX_WAIT_BITSET, 0, &until, NULL, 1) == -1 && errno == ETIMEDOUT);
    CHECK(has_come(CLOCK_MONOTONIC, until));
    until = from_now(CLOCK_REALTIME, 2);
    CHECK(futex(&word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, &until, NULL, 1) == -1 && errno == ETIMEDOUT);
    CHECK(has_come(CLOCK_REALTIME, until));
    CHECK(futex(&word, FUTEX_WAKE, 1, NULL, NULL, 0) == 0);

    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, counting, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(counter == 60);

    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, waiter, NULL) == 0);
    while (waiting < 3)
        continue;
    word = 1;
    long woken = futex(&word, FUTEX_WAKE, 100, NULL, NULL, 0);
    CHECK(woken >= 0 && woken <= 3);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(passed == 3);

    // Requeueing: waiters of one word are woken by another. Repeated until both threads wait at the second.
    word = 0;
    passed = 0;
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, moved, NULL) == 0);
    for (int there = 0; there < 2;) {
        long count = futex(&word, FUTEX_CMP_REQUEUE, 0, (void *)2, &other, 0);
        CHECK(count >= 0 && count <= 2);
        there += count;
    }
    CHECK(passed == 0 && futex(&word, FUTEX_WAKE, 2, NULL, NULL, 0) == 0);
    CHECK(futex(&other, FUTEX_WAKE, 1, NULL, NULL, 0) == 1);
    CHECK(futex(&other, FUTEX_WAKE, 2, NULL, NULL, 0) == 1);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(passed == 2);
    puts("ok");
}
