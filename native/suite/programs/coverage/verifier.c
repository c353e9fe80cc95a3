// SV-COMP's names: __VERIFIER_atomic_begin and _end exclude, __VERIFIER_nondet_* give values, __VERIFIER_assume holds.
#include "../check.h"
#include <pthread.h>

#ifndef __THREADBARE__
// Elsewhere a verifier would know them; here, something that does the same.
static pthread_mutex_t everybody = PTHREAD_MUTEX_INITIALIZER;
static void __VERIFIER_atomic_begin(void) { pthread_mutex_lock(&everybody); }
static void __VERIFIER_atomic_end(void) { pthread_mutex_unlock(&everybody); }
static int __VERIFIER_nondet_int(void) { return 0; }
static unsigned __VERIFIER_nondet_uint(void) { return 0; }
static _Bool __VERIFIER_nondet_bool(void) { return 0; }
static char __VERIFIER_nondet_char(void) { return 0; }
static long __VERIFIER_nondet_long(void) { return 0; }
static void __VERIFIER_assume(int condition) { CHECK(condition); }
static void __VERIFIER_assert(int condition) { CHECK(condition); }
static void reach_error(void) { abort(); }
#else
extern void __VERIFIER_atomic_begin(void), __VERIFIER_atomic_end(void);
extern int __VERIFIER_nondet_int(void);
extern unsigned __VERIFIER_nondet_uint(void);
extern _Bool __VERIFIER_nondet_bool(void);
extern char __VERIFIER_nondet_char(void);
extern long __VERIFIER_nondet_long(void);
extern void __VERIFIER_assume(int), __VERIFIER_assert(int);
extern void reach_error(void);
#endif

static int counter;

static void *worker(void *unused) {
    for (int i = 0; i < 20; i++) {
        __VERIFIER_atomic_begin();
        int seen = counter;
        counter = seen + 1;
        __VERIFIER_atomic_end();
    }
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    if (counter != 60)
        reach_error();
    int chosen = __VERIFIER_nondet_int();
    __VERIFIER_assume(chosen == 0);
    __VERIFIER_assert(__VERIFIER_nondet_uint() == 0 && !__VERIFIER_nondet_bool());
    __VERIFIER_assert(__VERIFIER_nondet_char() == 0 && __VERIFIER_nondet_long() == 0);
    puts("ok");
}
