// Parallel merge sort: halves in threads of their own down to a depth.
//
// prints: 200 numbers sorted, checksum 447ac0a1
#include "check.h"
#include <pthread.h>
#include <string.h>

enum { COUNT = 200 };

struct part {
    unsigned *numbers, *room;
    int count, depth;
};

static void *sort(void *argument) {
    struct part *part = argument;
    if (part->count < 2)
        return NULL;
    int half = part->count / 2;
    struct part left = {part->numbers, part->room, half, part->depth - 1};
    struct part right = {part->numbers + half, part->room + half, part->count - half, part->depth - 1};
    pthread_t thread;
    if (part->depth > 0)
        CHECK(pthread_create(&thread, NULL, sort, &left) == 0);
    else
        sort(&left);
    sort(&right);
    if (part->depth > 0)
        CHECK(pthread_join(thread, NULL) == 0);
    unsigned *a = left.numbers, *b = right.numbers, *out = part->room;
    while (a < left.numbers + left.count && b < right.numbers + right.count)
        *out++ = *a <= *b ? *a++ : *b++;
    while (a < left.numbers + left.count)
        *out++ = *a++;
    while (b < right.numbers + right.count)
        *out++ = *b++;
    memcpy(part->numbers, part->room, part->count * sizeof *part->numbers);
    return NULL;
}

int main(void) {
    static unsigned numbers[COUNT], room[COUNT];
    unsigned state = 12345, checksum = 0;
    for (int i = 0; i < COUNT; i++) {
        state = state * 1664525 + 1013904223;
        numbers[i] = state >> 8;
    }
    struct part all = {numbers, room, COUNT, 2};
    sort(&all);
    for (int i = 0; i < COUNT; i++) {
        CHECK(i == 0 || numbers[i - 1] <= numbers[i]);
        checksum = checksum * 31 + numbers[i];
    }
    printf("%d numbers sorted, checksum %x\n", COUNT, checksum);
}
