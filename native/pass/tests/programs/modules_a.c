// with: modules_b.c modules_c.c
// flags: -fcommon
// Several modules with equal static names, shared globals, tentative definitions, calls with other types than defined.
#include <stdio.h>
static int counter = 1; static int step(void) { return counter += 1; }
int shared_table[4]; int tentative; extern int defined_in_b; extern const char *names[]; int from_b(int), from_c(int); int mistyped(); extern int (*const handlers[])(int);
int main(void) { int a = step() + step(); int b = from_b(2), c = from_c(3); tentative++; printf("%d %d %d %d %d %d %s %d %d\n", a, b, c, counter, tentative, defined_in_b, names[1], mistyped(1, 2), handlers[0](4) + handlers[1](5) + shared_table[2]); }
