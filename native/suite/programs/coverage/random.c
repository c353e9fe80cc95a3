// getrandom, getentropy, arc4random, /dev/urandom, rand, random, drand48, rand_r: they answer; seeded ones repeat.
#include "../check.h"
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static int zeros(const unsigned char *bytes, int count) {
    int found = 0;
    for (int i = 0; i < count; i++)
        found += bytes[i] == 0;
    return found;
}

static void *worker(void *unused) {
    unsigned char bytes[32];
    memset(bytes, 0, sizeof bytes);
    CHECK(getrandom(bytes, sizeof bytes, 0) == sizeof bytes && zeros(bytes, 32) < 16);
    memset(bytes, 0, sizeof bytes);
    CHECK(getentropy(bytes, sizeof bytes) == 0 && zeros(bytes, 32) < 16);
    memset(bytes, 0, sizeof bytes);
    arc4random_buf(bytes, sizeof bytes);
    CHECK(zeros(bytes, 32) < 16 && arc4random_uniform(10) < 10);
    int file = open("/dev/urandom", O_RDONLY);
    CHECK(file >= 0 && read(file, bytes, sizeof bytes) == sizeof bytes && zeros(bytes, 32) < 16);
    CHECK(close(file) == 0);
    unsigned first = 7, second = 7;
    for (int i = 0; i < 5; i++)
        CHECK(rand_r(&first) == rand_r(&second));
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int numbers[3][5];
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (int round = 0; round < 2; round++) {
        srand(3);
        for (int i = 0; i < 5; i++) {
            CHECK(round == 0 || numbers[0][i] == rand());
            if (round == 0)
                numbers[0][i] = rand();
        }
        srandom(4);
        for (int i = 0; i < 5; i++) {
            CHECK(round == 0 || numbers[1][i] == random());
            if (round == 0)
                numbers[1][i] = random();
        }
        srand48(5);
        for (int i = 0; i < 5; i++) {
            CHECK(round == 0 || numbers[2][i] == lrand48());
            if (round == 0)
                numbers[2][i] = lrand48();
        }
    }
    puts("ok");
}
