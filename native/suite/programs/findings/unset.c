// A variable that nobody sets before the threads begin: whoever reads first sees what happens to be there.
// finds: race 9 14: assertion
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static void *writer(void *place) {
    // The recorded run does this first.
    *(int *)place = 12345;
    return NULL;
}

static void *reader(void *place) {
    assert(*(int *)place == 12345);
    return NULL;
}

int main(void) {
    int unset;
    pthread_t first, second;
    pthread_create(&first, NULL, writer, &unset);
    pthread_create(&second, NULL, reader, &unset);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
