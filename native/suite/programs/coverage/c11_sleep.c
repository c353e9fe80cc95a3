// C11 thrd_sleep, timespec_get: not shorter than asked.
#include "../check.h"
#include <threads.h>

static int sleeper(void *unused) {
    struct timespec length = milliseconds(2), before, after;
    CHECK(timespec_get(&before, TIME_UTC) == TIME_UTC);
    CHECK(thrd_sleep(&length, NULL) == 0);
    CHECK(timespec_get(&after, TIME_UTC) == TIME_UTC);
    long long passed = (after.tv_sec - before.tv_sec) * 1000000000LL + after.tv_nsec - before.tv_nsec;
    CHECK(passed >= 2000000);
    return 0;
}

int main(void) {
    thrd_t threads[2];
    for (int i = 0; i < 2; i++)
        CHECK(thrd_create(&threads[i], sleeper, NULL) == thrd_success);
    for (int i = 0; i < 2; i++)
        CHECK(thrd_join(threads[i], NULL) == thrd_success);
    puts("ok");
}
