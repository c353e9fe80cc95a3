// A bug pattern of the Apache server (mod_log_config): lines are appended to a buffer whose length is read before the copy and
// written after it. AV, section 6.
//
// bug: two writers can take the same length: one line overwrites the other, or the length loses one of them.
// prints: 40 bytes, 5 of aaaa, 5 of bbbb
// finds: assertion 47: assertion
// finds: atomicity 20 23: assertion
// finds: race 20 23: assertion
// finds: race 22: assertion
// finds: race 23: assertion
#include "check.h"
#include <pthread.h>
#include <threadbare.h>

static char buffer[256];
static int length;

static void write_line(char letter) {
    TB_ATOMIC_BEGIN;
    int at = length;
    for (int i = 0; i < 4; i++)
        buffer[at + i] = letter;
    length = at + 4;
    TB_ATOMIC_END;
}

static void *writer(void *letter) {
    for (int i = 0; i < 5; i++)
        write_line(*(char *)letter);
    return NULL;
}

static int whole(char letter) {
    int lines = 0;
    for (int at = 0; at + 4 <= length; at += 4)
        lines += buffer[at] == letter && buffer[at + 1] == letter && buffer[at + 2] == letter && buffer[at + 3] == letter;
    return lines;
}

int main(void) {
    pthread_t threads[2];
    char letters[2] = {'a', 'b'};
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, writer, &letters[i]) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    TB_ASSERT(length == 40);
    printf("%d bytes, %d of aaaa, %d of bbbb\n", length, whole('a'), whole('b'));
}
