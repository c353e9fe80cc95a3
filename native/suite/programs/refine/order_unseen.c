// A thread waits for a byte in a pipe, which nothing in the trace orders behind the other thread's writing it, and then loses an update. The
// schedule with fewest switches lets it wait for what is not there yet; one in which the byte is written first shows the bug.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2], total;

static void add(int amount) {
    pthread_mutex_lock(&lock);
    total += amount;
    pthread_mutex_unlock(&lock);
}

static void add_in_two_steps(int amount) {
    pthread_mutex_lock(&lock);
    int seen = total;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    total = seen + amount;
    pthread_mutex_unlock(&lock);
}

static void *sender(void *unused) {
    (void)unused;
    write(ends[1], "x", 1);
    add(10);
    return NULL;
}

static void *receiver(void *unused) {
    (void)unused;
    char byte;
    read(ends[0], &byte, 1);
    add_in_two_steps(1);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pipe(ends);
    pthread_create(&a, NULL, sender, NULL);
    pthread_create(&b, NULL, receiver, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(total == 11);
    puts("done");
    return 0;
}
