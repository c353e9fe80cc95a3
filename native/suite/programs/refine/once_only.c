// What it does depends on a file that each run changes: only the first run, which is recorded, updates anything. No schedule brings that back.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *path;
static int total;

static void add_in_two_steps(int amount) {
    pthread_mutex_lock(&lock);
    int seen = total;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    total = seen + amount;
    pthread_mutex_unlock(&lock);
}

static void *once(void *unused) {
    (void)unused;
    char byte;
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (read(file, &byte, 1) == 0) {
        write(file, "x", 1);
        add_in_two_steps(1);
    }
    close(file);
    return NULL;
}

static void *always(void *unused) {
    (void)unused;
    add_in_two_steps(10);
    return NULL;
}

int main(int count, char **words) {
    (void)count;
    path = words[1];
    pthread_t a, b;
    pthread_create(&a, NULL, once, NULL);
    pthread_create(&b, NULL, always, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    puts("done");
    return 0;
}
