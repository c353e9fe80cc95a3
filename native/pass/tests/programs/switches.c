// Switches: dense, sparse, with fall-through, on 64 bits, on characters.
#include <stdio.h>
static int dense(int x) { switch (x) { case 0: return 10; case 1: case 2: return 20; case 3: x += 5; default: return x; } }
static long sparse(long x) { switch (x) { case -1: return 1; case 1000000007L: return 2; case 0x7fffffffffffffffL: return 3; } return 4; }
static int word(char c) { switch (c) { case 'a' ... 'f': return c - 'a' + 10; case '0' ... '9': return c - '0'; } return -1; }
int main(void) {
  for (int i = -1; i < 6; i++) printf("%d ", dense(i));
  printf("%ld %ld %ld %ld %d %d %d\n", sparse(-1), sparse(1000000007L), sparse(0x7fffffffffffffffL), sparse(5), word('c'), word('7'), word('x'));
}
