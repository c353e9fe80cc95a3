// dlopen of a library with a constructor that locks and starts a thread, dlsym, dlclose.
//
// library: dlopen_library.c
#include "../check.h"
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static char path[4096];

static void *opening(void *unused) {
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    CHECK(library != NULL);
    int (*add)(int) = (int (*)(int))dlsym(library, "library_add");
    CHECK(add != NULL);
    for (int i = 0; i < 10; i++)
        CHECK(add(1) > 100);
    return library;
}

int main(int count, char **words) {
    pthread_t threads[2];
    void *libraries[2];
    // The library lies beside the program, under its name.
    snprintf(path, sizeof path, "%s.so", words[0]);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, opening, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], &libraries[i]) == 0);
    CHECK(libraries[0] == libraries[1]);
    int (*add)(int) = (int (*)(int))dlsym(libraries[0], "library_add");
    CHECK(add(0) == 120);
    CHECK(dlclose(libraries[0]) == 0 && dlclose(libraries[1]) == 0);
    puts("ok");
}
