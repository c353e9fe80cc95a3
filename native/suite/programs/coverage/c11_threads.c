// C11 thrd_create, join, detach, exit, current, equal, yield: results arrive as ints.
#include "../check.h"
#include <threads.h>

static mtx_t mutex;
static cnd_t changed;
static int detached;
static thrd_t seen[3];

static int worker(void *argument) {
    int number = *(int *)argument;
    seen[number] = thrd_current();
    thrd_yield();
    if (number == 2)
        thrd_exit(20);
    return number;
}

static int alone(void *unused) {
    CHECK(mtx_lock(&mutex) == thrd_success);
    detached = 1;
    CHECK(cnd_signal(&changed) == thrd_success);
    CHECK(mtx_unlock(&mutex) == thrd_success);
    return 0;
}

int main(void) {
    thrd_t threads[3], other;
    int numbers[3] = {0, 1, 2}, result;
    CHECK(mtx_init(&mutex, mtx_plain) == thrd_success && cnd_init(&changed) == thrd_success);
    for (int i = 0; i < 3; i++)
        CHECK(thrd_create(&threads[i], worker, &numbers[i]) == thrd_success);
    for (int i = 0; i < 3; i++) {
        CHECK(thrd_join(threads[i], &result) == thrd_success && result == (i == 2 ? 20 : i));
        CHECK(thrd_equal(seen[i], threads[i]) && !thrd_equal(seen[i], thrd_current()));
    }
    CHECK(thrd_create(&other, alone, NULL) == thrd_success);
    CHECK(thrd_detach(other) == thrd_success);
    CHECK(mtx_lock(&mutex) == thrd_success);
    while (!detached)
        CHECK(cnd_wait(&changed, &mutex) == thrd_success);
    CHECK(mtx_unlock(&mutex) == thrd_success);
    puts("ok");
}
