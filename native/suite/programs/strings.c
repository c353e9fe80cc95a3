// Strings: threads take words off a text, turn them round, and put them back into a shared result, with the C library's functions.
//
// prints: daerht erab swohs sti spraw
#include "check.h"
#include <pthread.h>
#include <string.h>

enum { MOST = 8 };

static char text[] = "thread bare shows its warps";
static char *words[MOST];
static char result[MOST][16];
static int count, next;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void turn(char *to, const char *from) {
    size_t length = strlen(from);
    for (size_t i = 0; i < length; i++)
        to[i] = from[length - 1 - i];
    to[length] = '\0';
}

static void *worker(void *unused) {
    for (;;) {
        pthread_mutex_lock(&mutex);
        int mine = next++;
        pthread_mutex_unlock(&mutex);
        if (mine >= count)
            return NULL;
        char turned[16], copy[16];
        turn(turned, words[mine]);
        memcpy(copy, turned, strlen(turned) + 1);
        CHECK(memcmp(copy, turned, strlen(copy)) == 0 && strchr(copy, words[mine][0]));
        strcpy(result[mine], copy);
    }
}

int main(void) {
    pthread_t threads[2];
    char line[128] = "", *state;
    for (char *word = strtok_r(text, " ", &state); word; word = strtok_r(NULL, " ", &state))
        words[count++] = word;
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < count; i++) {
        if (i > 0)
            strcat(line, " ");
        strcat(line, result[i]);
    }
    puts(line);
}
