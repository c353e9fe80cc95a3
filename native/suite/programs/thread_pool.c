// A pool of threads with a queue of tasks, function pointers and a count of what is left to do.
//
// prints: 24 tasks, squares 4515, cubes 3025
#include "check.h"
#include <pthread.h>

struct task {
    void (*run)(int);
    int argument;
    struct task *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, all_done = PTHREAD_COND_INITIALIZER;
static struct task *first, **last = &first;
static int left, closing, done;
static int squares, cubes;

static void add(int *to, int value) { __atomic_fetch_add(to, value, __ATOMIC_RELAXED); }
static void square(int number) { add(&squares, number * number); }
static void cube(int number) { add(&cubes, number * number * number); }

static void submit(void (*run)(int), int argument) {
    struct task *task = malloc(sizeof *task);
    *task = (struct task){run, argument, NULL};
    pthread_mutex_lock(&mutex);
    *last = task;
    last = &task->next;
    left++;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&mutex);
}

static void *worker(void *unused) {
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (!first && !closing)
            pthread_cond_wait(&more, &mutex);
        if (!first)
            break;
        struct task *task = first;
        first = task->next;
        if (!first)
            last = &first;
        pthread_mutex_unlock(&mutex);
        task->run(task->argument);
        free(task);
        pthread_mutex_lock(&mutex);
        done++;
        if (--left == 0)
            pthread_cond_broadcast(&all_done);
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 1; i <= 10; i++)
        submit(cube, i);
    for (int i = 11; i <= 24; i++)
        submit(square, i);
    pthread_mutex_lock(&mutex);
    while (left > 0)
        pthread_cond_wait(&all_done, &mutex);
    closing = 1;
    pthread_cond_broadcast(&more);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    printf("%d tasks, squares %d, cubes %d\n", done, squares, cubes);
}
