// malloc, calloc, realloc, reallocarray, aligned_alloc, posix_memalign, memalign, valloc, malloc_usable_size, strdup, free: contents
// stay, alignments hold, blocks do not overlap, and any thread may free.
#include "../check.h"
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

static char *handed[2][8];
static pthread_barrier_t barrier;

static void *worker(void *argument) {
    int me = *(int *)argument;
    for (int i = 0; i < 8; i++) {
        handed[me][i] = malloc(16 << i);
        memset(handed[me][i], me * 8 + i, 16 << i);
    }
    pthread_barrier_wait(&barrier);
    // The other one's blocks: as they were written, and freed here.
    for (int i = 0; i < 8; i++) {
        char *block = handed[1 - me][i];
        CHECK(block[0] == (1 - me) * 8 + i && block[(16 << i) - 1] == block[0]);
        free(block);
    }
    int *numbers = calloc(20, sizeof *numbers);
    for (int i = 0; i < 20; i++)
        CHECK(numbers[i] == 0);
    numbers[19] = 5;
    numbers = realloc(numbers, 5000 * sizeof *numbers);
    CHECK(numbers[19] == 5);
    numbers = reallocarray(numbers, 30, sizeof *numbers);
    CHECK(numbers[19] == 5);
    CHECK(reallocarray(numbers, SIZE_MAX, 2) == NULL && errno == ENOMEM);
    free(numbers);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int names[2] = {0, 1};
    void *block;
    CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, &names[i]) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (size_t alignment = 16; alignment <= 4096; alignment *= 4) {
        block = aligned_alloc(alignment, alignment * 2);
        CHECK(block && (uintptr_t)block % alignment == 0);
        free(block);
        CHECK(posix_memalign(&block, alignment, 100) == 0 && (uintptr_t)block % alignment == 0);
        CHECK(malloc_usable_size(block) >= 100);
        free(block);
        block = memalign(alignment, 10);
        CHECK(block && (uintptr_t)block % alignment == 0);
        free(block);
    }
    CHECK(posix_memalign(&block, 3, 100) == EINVAL);
    block = valloc(10);
    CHECK((uintptr_t)block % 4096 == 0);
    free(block);
    char *copy = strdup("text"), *part = strndup("text", 2);
    CHECK(strcmp(copy, "text") == 0 && strcmp(part, "te") == 0);
    free(copy);
    free(part);
    free(NULL);
    block = malloc(1 << 24);
    CHECK(block);
    ((char *)block)[(1 << 24) - 1] = 1;
    free(block);
    void *volatile zero = malloc(0);
    CHECK(zero);
    free(zero);
    volatile size_t huge = SIZE_MAX / 2;
    void *volatile none = malloc(huge);
    CHECK(!none);
    puts("ok");
}
