// What is done once is done before anybody goes on, whoever does it.
#include <pthread.h>
#include <stdio.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int table[4];

static void fill(void) {
    for (int i = 0; i < 4; i++)
        table[i] = i;
}

static void *worker(void *unused) {
    (void)unused;
    pthread_once(&once, fill);
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += table[i];
    return sum == 6 ? NULL : &once;
}

int main(void) {
    pthread_t workers[3];
    int wrong = 0;
    for (int i = 0; i < 3; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++) {
        void *result;
        pthread_join(workers[i], &result);
        wrong += result != NULL;
    }
    printf("%d wrong\n", wrong);
    return wrong;
}
