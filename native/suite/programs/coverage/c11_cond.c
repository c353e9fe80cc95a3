// C11 cnd_wait, timedwait, signal, broadcast: wake-ups arrive, time-outs are thrd_timedout and not before their time.
#include "../check.h"
#include <threads.h>

static mtx_t mutex;
static cnd_t start, ready;
static int waiting, go, woken;

static int worker(void *unused) {
    CHECK(mtx_lock(&mutex) == thrd_success);
    waiting++;
    CHECK(cnd_signal(&ready) == thrd_success);
    while (!go)
        CHECK(cnd_wait(&start, &mutex) == thrd_success);
    woken++;
    CHECK(cnd_signal(&ready) == thrd_success);
    CHECK(mtx_unlock(&mutex) == thrd_success);
    return 0;
}

int main(void) {
    thrd_t threads[3];
    CHECK(mtx_init(&mutex, mtx_timed) == thrd_success);
    CHECK(cnd_init(&start) == thrd_success && cnd_init(&ready) == thrd_success);
    CHECK(mtx_lock(&mutex) == thrd_success);
    struct timespec until = from_now(CLOCK_REALTIME, 2);
    int answer = thrd_success;
    while (answer == thrd_success)
        answer = cnd_timedwait(&ready, &mutex, &until);
    CHECK(answer == thrd_timedout && has_come(CLOCK_REALTIME, until));
    for (int i = 0; i < 3; i++)
        CHECK(thrd_create(&threads[i], worker, NULL) == thrd_success);
    while (waiting < 3)
        CHECK(cnd_wait(&ready, &mutex) == thrd_success);
    CHECK(woken == 0);
    go = 1;
    CHECK(cnd_broadcast(&start) == thrd_success);
    while (woken < 3) {
        until = from_now(CLOCK_REALTIME, 1000);
        answer = cnd_timedwait(&ready, &mutex, &until);
        CHECK(answer == thrd_success || (answer == thrd_timedout && has_come(CLOCK_REALTIME, until)));
    }
    CHECK(mtx_unlock(&mutex) == thrd_success);
    for (int i = 0; i < 3; i++)
        CHECK(thrd_join(threads[i], NULL) == thrd_success);
    cnd_destroy(&start);
    cnd_destroy(&ready);
    mtx_destroy(&mutex);
    puts("ok");
}
