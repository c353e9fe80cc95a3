// C11 mtx_*: plain, recursive and timed mutexes exclude; thrd_busy and thrd_timedout as specified.
#include "../check.h"
#include <threads.h>

static mtx_t plain, recursive, timed;
static int counters[3];

static int worker(void *unused) {
    for (int i = 0; i < 15; i++) {
        CHECK(mtx_lock(&plain) == thrd_success);
        counters[0]++;
        CHECK(mtx_unlock(&plain) == thrd_success);

        CHECK(mtx_lock(&recursive) == thrd_success && mtx_lock(&recursive) == thrd_success);
        counters[1]++;
        CHECK(mtx_unlock(&recursive) == thrd_success && mtx_unlock(&recursive) == thrd_success);

        int answer;
        do {
            struct timespec until = from_now(CLOCK_REALTIME, 1000);
            answer = mtx_timedlock(&timed, &until);
            CHECK(answer == thrd_success || (answer == thrd_timedout && has_come(CLOCK_REALTIME, until)));
        } while (answer != thrd_success);
        counters[2]++;
        CHECK(mtx_unlock(&timed) == thrd_success);
    }
    return 0;
}

static int prober(void *unused) {
    struct timespec until = from_now(CLOCK_REALTIME, 2);
    CHECK(mtx_trylock(&plain) == thrd_busy && mtx_trylock(&recursive) == thrd_busy);
    CHECK(mtx_timedlock(&timed, &until) == thrd_timedout && has_come(CLOCK_REALTIME, until));
    return 0;
}

int main(void) {
    thrd_t threads[3];
    CHECK(mtx_init(&plain, mtx_plain) == thrd_success);
    CHECK(mtx_init(&recursive, mtx_plain | mtx_recursive) == thrd_success);
    CHECK(mtx_init(&timed, mtx_timed) == thrd_success);
    for (int i = 0; i < 3; i++)
        CHECK(thrd_create(&threads[i], worker, NULL) == thrd_success);
    for (int i = 0; i < 3; i++)
        CHECK(thrd_join(threads[i], NULL) == thrd_success);
    for (int i = 0; i < 3; i++)
        CHECK(counters[i] == 45);
    CHECK(mtx_trylock(&plain) == thrd_success && mtx_trylock(&recursive) == thrd_success);
    CHECK(mtx_trylock(&timed) == thrd_success);
    CHECK(thrd_create(&threads[0], prober, NULL) == thrd_success && thrd_join(threads[0], NULL) == thrd_success);
    CHECK(mtx_unlock(&plain) == thrd_success && mtx_unlock(&recursive) == thrd_success);
    CHECK(mtx_unlock(&timed) == thrd_success);
    mtx_destroy(&plain);
    mtx_destroy(&recursive);
    mtx_destroy(&timed);
    puts("ok");
}
