#include <pthread.h>
#include <threadbare.h>

int x, place;
int table[4];

static void *first(void *unused) {
    (void)unused;
    TB_ATOMIC_BEGIN;
    int a = x;
    x = a + 1;
    TB_ATOMIC_END;
    int i = place;
    table[i] = a + 7;
    return 0;
}

static void *second(void *unused) {
    (void)unused;
    int b = x;
    if (b > 0)
        x = 5;
    TB_ATOMIC_BEGIN;
    int i = place;
    place = i + 1;
    table[i + 1] = 9;
    TB_ATOMIC_END;
    return 0;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, first, 0);
    pthread_create(&u, 0, second, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    int r = table[1];
    return r >= 7 ? 0 : 1;
}
