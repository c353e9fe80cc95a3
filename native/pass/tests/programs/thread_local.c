// Thread-local variables of all linkages, and a thread that has its own.
#include <pthread.h>
#include <stdio.h>
_Thread_local int shared = 1; static _Thread_local int hidden = 2; static _Thread_local struct { int a[3]; } record;
static int local(void) { static _Thread_local int calls; return ++calls; }
static void *run(void *argument) { shared += 10; hidden += *(int *)argument; record.a[1] = shared + hidden; *(int *)argument = record.a[1] * 100 + local(); return argument; }
int main(void) { pthread_t t; int x = 5; local(); local(); pthread_create(&t, NULL, run, &x); pthread_join(t, NULL); printf("%d %d %d %d %d\n", shared, hidden, record.a[1], x, local()); }
