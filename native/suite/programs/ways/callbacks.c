#include <pthread.h>
#include <stdatomic.h>

static void start(void);
static void go_on(void);

static void (*_Atomic action)(void) = start;
int started, gone_on;

static void start(void) {
    started = 1;
}

static void go_on(void) {
    gone_on = 1;
}

static void *caller(void *unused) {
    void (*now)(void) = atomic_load(&action);
    now();
    return unused;
}

static void *setter(void *unused) {
    atomic_store(&action, go_on);
    return unused;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, 0, caller, 0);
    pthread_create(&b, 0, caller, 0);
    pthread_create(&c, 0, setter, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return 0;
}
