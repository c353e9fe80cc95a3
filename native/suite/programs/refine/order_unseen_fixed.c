// As order_unseen.c, but the byte is written behind the update: whoever has read it comes later, which only the pipe knows. Nothing is wrong.
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
    add(10);
    write(ends[1], "x", 1);
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
