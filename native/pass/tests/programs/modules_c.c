// part of modules_a.c
static long counter = 1000; static long step(long by) { return counter -= by; }
extern int tentative; int from_b(int); int both(int);
int both(int x) { return x * 1000; }
int from_c(int x) { tentative++; return (int)step(x); }
int (*const handlers[])(int) = {both, from_b};
