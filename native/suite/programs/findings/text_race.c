// What functions of the C library read is read by their caller: each of them races with the thread that writes the text.
// finds: race 17 24: none
// finds: race 17 25: none
// finds: race 17 26: none
// finds: race 17 27: none
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static char text[] = "abcdef";
static char same[] = "abcdef";
static volatile long sum;

static void *writer(void *unused) {
    (void)unused;
    // The same letter, so that nobody notices.
    text[2] = 'c';
    return NULL;
}

static void *reader(void *unused) {
    (void)unused;
    // Each of them comes to the third letter.
    sum += strlen(text);
    sum += memcmp(text, same, 4);
    sum += strchr(text, 'd') - text;
    sum += strncmp(text, same, 3);
    // These do not.
    sum += strcmp(text, "ax") < 0;
    sum += memchr(text, 'b', 6) == text + 1;
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", sum);
    return 0;
}
