// stdio from several threads: lines stay whole; flockfile, ftrylockfile and funlockfile exclude over several calls.
#include "../check.h"
#include <pthread.h>
#include <string.h>

static FILE *file;

static void *writer(void *argument) {
    char letter = *(char *)argument;
    for (int i = 0; i < 5; i++) {
        fprintf(file, "%c%c%c\n", letter, letter, letter);
        flockfile(file);
        for (int k = 0; k < 3; k++)
            putc_unlocked(letter, file);
        putc('\n', file);
        funlockfile(file);
    }
    return NULL;
}

static void *prober(void *unused) {
    CHECK(ftrylockfile(file) != 0);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    char letters[3] = {'a', 'b', 'c'}, line[16];
    int counts[3] = {0, 0, 0};
    file = tmpfile();
    CHECK(file != NULL);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, writer, &letters[i]) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    rewind(file);
    while (fgets(line, sizeof line, file)) {
        CHECK(strlen(line) == 4 && line[0] == line[1] && line[1] == line[2]);
        counts[line[0] - 'a']++;
    }
    for (int i = 0; i < 3; i++)
        CHECK(counts[i] == 10);
    flockfile(file);
    CHECK(ftrylockfile(file) == 0);
    CHECK(pthread_create(&threads[0], NULL, prober, NULL) == 0 && pthread_join(threads[0], NULL) == 0);
    funlockfile(file);
    funlockfile(file);
    CHECK(fclose(file) == 0);
    puts("ok");
}
