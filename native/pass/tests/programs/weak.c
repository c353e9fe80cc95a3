// Weak functions, aliases, a function chosen when the program starts, visibility, constructors.
#include <stdio.h>
__attribute__((weak)) int fallback(void) { return 1; }
int original(int x) { return x + 1; }
int second(int) __attribute__((alias("original")));
extern int missing(void) __attribute__((weak));
static int chosen_impl(void) { return 77; }
static int (*resolve(void))(void) { return chosen_impl; }
int chosen(void) __attribute__((ifunc("resolve")));
int value = 5; extern int other_name __attribute__((alias("value")));
static int order; __attribute__((constructor)) static void before(void) { order = 3; }
__attribute__((noinline, visibility("hidden"))) int hidden(int x) { return x * 2; }
int main(void) { other_name += 2; int (*p)(int) = second; printf("%d %d %d %d %d %d %d\n", fallback(), second(1), p(2), missing ? 1 : 0, chosen(), value, order + hidden(4)); }
