// sem_timedwait: ETIMEDOUT not before the time; a token is taken whatever the time.
#include "../check.h"
#include <pthread.h>
#include <semaphore.h>

static sem_t semaphore;
static int handed;

static void *poster(void *unused) {
    handed = 1;
    CHECK(sem_post(&semaphore) == 0);
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct timespec past = {1, 0}, wrong = {1, -1};
    CHECK(sem_init(&semaphore, 0, 1) == 0);
    CHECK(sem_timedwait(&semaphore, &past) == 0);
    CHECK(sem_timedwait(&semaphore, &past) == -1 && errno == ETIMEDOUT);
    CHECK(sem_timedwait(&semaphore, &wrong) == -1 && errno == EINVAL);
    struct timespec until = from_now(CLOCK_REALTIME, 2);
    CHECK(sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT);
    CHECK(has_come(CLOCK_REALTIME, until));
    CHECK(pthread_create(&thread, NULL, poster, NULL) == 0);
    int answer;
    do {
        until = from_now(CLOCK_REALTIME, 1000);
        answer = sem_timedwait(&semaphore, &until);
        CHECK(answer == 0 || (errno == ETIMEDOUT && has_come(CLOCK_REALTIME, until)));
    } while (answer != 0);
    CHECK(handed == 1);
    CHECK(pthread_join(thread, NULL) == 0);
    puts("ok");
}
