// C11 tss_create, set, get, delete: a value for each thread, destroyed at its end.
#include "../check.h"
#include <stdatomic.h>
#include <threads.h>

static tss_t key;
static atomic_int sum;

static void add(void *value) { atomic_fetch_add(&sum, *(int *)value); }

static int worker(void *argument) {
    CHECK(tss_get(key) == NULL);
    CHECK(tss_set(key, argument) == thrd_success);
    thrd_yield();
    CHECK(tss_get(key) == argument);
    return 0;
}

int main(void) {
    thrd_t threads[3];
    int numbers[3] = {1, 20, 300};
    CHECK(tss_create(&key, add) == thrd_success);
    for (int i = 0; i < 3; i++)
        CHECK(thrd_create(&threads[i], worker, &numbers[i]) == thrd_success);
    for (int i = 0; i < 3; i++)
        CHECK(thrd_join(threads[i], NULL) == thrd_success);
    CHECK(sum == 321);
    tss_delete(key);
    puts("ok");
}
