// part of modules_a.c
static int counter = 100; static int step(void) { return counter += 10; }
extern int shared_table[4]; int tentative; int defined_in_b = 7; const char *names[] = {"zero", "one"};
int from_b(int x) { shared_table[2] = 30; tentative++; return step() * x; }
int mistyped(int a, int b, ...) { return a - b; }
__attribute__((weak)) int both(int x) { return x; }
