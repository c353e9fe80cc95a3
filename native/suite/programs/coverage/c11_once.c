// C11 call_once: once, and nobody passes before it has ended.
#include "../check.h"
#include <threads.h>

static once_flag flag = ONCE_FLAG_INIT;
static int runs, finished;

static void initialise(void) {
    runs++;
    thrd_yield();
    finished = 1;
}

static int worker(void *unused) {
    call_once(&flag, initialise);
    CHECK(runs == 1 && finished == 1);
    return 0;
}

int main(void) {
    thrd_t threads[4];
    for (int i = 0; i < 4; i++)
        CHECK(thrd_create(&threads[i], worker, NULL) == thrd_success);
    for (int i = 0; i < 4; i++)
        CHECK(thrd_join(threads[i], NULL) == thrd_success);
    puts("ok");
}
