// threadbare.h: TB_ATOMIC_BEGIN and TB_ATOMIC_END mark and exclude nobody, TB_ASSERT is evaluated only under Threadbare.
#include "../check.h"
#include <pthread.h>
#include <threadbare.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter, evaluated;

static int holds(void) {
    evaluated++;
    return 1;
}

static void *worker(void *unused) {
    for (int i = 0; i < 10; i++) {
        TB_ATOMIC_BEGIN;
        pthread_mutex_lock(&mutex);
        int seen = counter;
        TB_ATOMIC_BEGIN;
        counter = seen + 1;
        TB_ATOMIC_END;
        TB_ASSERT(counter == seen + 1);
        pthread_mutex_unlock(&mutex);
        TB_ATOMIC_END;
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    TB_ASSERT(holds());
#ifdef __THREADBARE__
    CHECK(evaluated == 1);
#else
    CHECK(evaluated == 0 && holds());
#endif
    CHECK(counter == 20);
    puts("ok");
}
