// Recursion, direct and mutual, and a deep one.
#include <stdio.h>
static unsigned ackermann(unsigned m, unsigned n) { return !m ? n + 1 : !n ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
static int odd(unsigned n);
static int even(unsigned n) { return n == 0 || odd(n - 1); }
static int odd(unsigned n) { return n != 0 && even(n - 1); }
static void hanoi(int n, char a, char b, char c, int *moves) { if (n) { hanoi(n - 1, a, c, b, moves); ++*moves; hanoi(n - 1, c, b, a, moves); } }
int main(void) { int moves = 0; hanoi(8, 'a', 'b', 'c', &moves); printf("%u %d %d %d\n", ackermann(2, 5), even(10), odd(10), moves); }
