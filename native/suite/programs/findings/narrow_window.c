// The window is one access wide, and the other thread comes by only once in a long run: random schedules miss it. Each counts thousands of
// things of its own before and after.
// finds: assertion 50: assertion
// finds: atomicity 19 23 34: assertion
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static volatile int own[2];

static void *slow(void *unused) {
    (void)unused;
    for (int i = 0; i < 400; i++)
        own[0]++;
    pthread_mutex_lock(&lock);
    // Looked up here …
    int seen = total;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    // … and written down here.
    total = seen + 1;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 400; i++)
        own[0]++;
    return NULL;
}

static void add(void) {
    pthread_mutex_lock(&lock);
    //
    //
    total += 10;
    pthread_mutex_unlock(&lock);
}

static void *rare(void *unused) {
    (void)unused;
    for (int i = 0; i < 4000; i++)
        own[1]++;
    add();
    return NULL;
}

static void check(void) {
    pthread_mutex_lock(&lock);
    int sum = total;
    pthread_mutex_unlock(&lock);
    assert(sum == 11);
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, slow, NULL);
    pthread_create(&b, NULL, rare, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    check();
    puts("done");
    return 0;
}
