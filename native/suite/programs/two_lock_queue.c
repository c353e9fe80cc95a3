// Michael and Scott's queue with two locks: one for the head, one for the tail, and a dummy node between them.
//
// prints: put 30, took 30, sum 273
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>

struct node {
    int value;
    _Atomic(struct node *) next;
};

static struct node *head, *tail;
static pthread_mutex_t head_lock = PTHREAD_MUTEX_INITIALIZER, tail_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int put_count, took_count, sum;

static struct node *make(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    atomic_init(&node->next, NULL);
    return node;
}

static void put(int value) {
    struct node *node = make(value);
    pthread_mutex_lock(&tail_lock);
    atomic_store(&tail->next, node);
    tail = node;
    pthread_mutex_unlock(&tail_lock);
    atomic_fetch_add(&put_count, 1);
}

static int take(int *value) {
    pthread_mutex_lock(&head_lock);
    struct node *dummy = head, *first = atomic_load(&dummy->next);
    if (!first) {
        pthread_mutex_unlock(&head_lock);
        return 0;
    }
    *value = first->value;
    head = first;
    pthread_mutex_unlock(&head_lock);
    free(dummy);
    return 1;
}

static void *producer(void *argument) {
    for (int i = 0; i < 15; i++)
        put(i * 3 / 2 * *(int *)argument % 21);
    return NULL;
}

static void *consumer(void *unused) {
    int value;
    while (atomic_load(&took_count) < 30)
        if (take(&value)) {
            atomic_fetch_add(&sum, value);
            atomic_fetch_add(&took_count, 1);
        }
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    int factors[2] = {1, 2};
    head = tail = make(0);
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_create(&threads[i], NULL, producer, &factors[i]) == 0);
        CHECK(pthread_create(&threads[i + 2], NULL, consumer, NULL) == 0);
    }
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    free(head);
    printf("put %d, took %d, sum %d\n", put_count, took_count, sum);
}
