// Allocation-heavy: four threads build and take down trees and strings; some blocks are freed by the next thread.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 250000, DEPTH = 4, HANDED = 16 };

struct tree {
    struct tree *left, *right;
    char *text;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tree *handed[HANDED];
static long total;

static struct tree *build(int depth, unsigned *state) {
    struct tree *tree = malloc(sizeof *tree);
    *state = *state * 1664525 + 1013904223;
    size_t length = 8 + (*state >> 16) % 56;
    tree->text = malloc(length + 1);
    memset(tree->text, 'a' + (*state >> 24) % 26, length);
    tree->text[length] = '\0';
    tree->left = depth > 0 ? build(depth - 1, state) : NULL;
    tree->right = depth > 0 && *state & 0x10000 ? build(depth - 1, state) : NULL;
    return tree;
}

static long take_down(struct tree *tree) {
    if (!tree)
        return 0;
    long bytes = strlen(tree->text) + take_down(tree->left) + take_down(tree->right);
    free(tree->text);
    free(tree);
    return bytes;
}

static void *worker(void *argument) {
    unsigned state = *(int *)argument;
    long bytes = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct tree *tree = build(DEPTH, &state);
        if (i % 64 == 0) {
            pthread_mutex_lock(&lock);
            struct tree *other = handed[i / 64 % HANDED];
            handed[i / 64 % HANDED] = tree;
            pthread_mutex_unlock(&lock);
            tree = other;
        }
        bytes += take_down(tree);
    }
    pthread_mutex_lock(&lock);
    total += bytes;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int seeds[THREADS];
    for (int i = 0; i < THREADS; i++) {
        seeds[i] = i + 1;
        pthread_create(&threads[i], NULL, worker, &seeds[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < HANDED; i++)
        total += take_down(handed[i]);
    printf("%ld\n", total);
}
