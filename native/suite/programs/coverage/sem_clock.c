// sem_clockwait: as sem_timedwait, on the clock that the call names.
#include "../check.h"
#include <pthread.h>
#include <semaphore.h>

static sem_t semaphore;

static void *poster(void *unused) {
    CHECK(sem_post(&semaphore) == 0);
    return NULL;
}

int main(void) {
    static const clockid_t clocks[2] = {CLOCK_MONOTONIC, CLOCK_REALTIME};
    pthread_t thread;
    CHECK(sem_init(&semaphore, 0, 0) == 0);
    for (int i = 0; i < 2; i++) {
        struct timespec until = from_now(clocks[i], 2);
        CHECK(sem_clockwait(&semaphore, clocks[i], &until) == -1 && errno == ETIMEDOUT);
        CHECK(has_come(clocks[i], until));
    }
    CHECK(pthread_create(&thread, NULL, poster, NULL) == 0);
    int answer;
    do {
        struct timespec until = from_now(CLOCK_MONOTONIC, 1000);
        answer = sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until);
        CHECK(answer == 0 || (errno == ETIMEDOUT && has_come(CLOCK_MONOTONIC, until)));
    } while (answer != 0);
    CHECK(pthread_join(thread, NULL) == 0);
    puts("ok");
}
