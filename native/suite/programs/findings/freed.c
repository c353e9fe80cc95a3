// A node is used after the other thread has given it back.
// finds: crash 22: crash
// finds: crash 22: none
// finds: race 22 34: none
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
    int value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *shared;

static void *user(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    struct node *node = shared;
    pthread_mutex_unlock(&lock);
    //
    node->value = 2;
    return NULL;
}

static void *owner(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    struct node *node = shared;
    shared = NULL;
    pthread_mutex_unlock(&lock);
    //
    //
    free(node);
    return NULL;
}

int main(void) {
    shared = malloc(sizeof *shared);
    shared->value = 1;
    pthread_t a, b;
    pthread_create(&a, NULL, user, NULL);
    pthread_create(&b, NULL, owner, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    puts("done");
    return 0;
}
