// Loops, nested and left early; goto.
#include <stdio.h>
static int collatz(unsigned n) { int steps = 0; while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; steps++; } return steps; }
int main(void) {
  int sum = 0;
  for (int i = 0; i < 10; i++) { if (i == 7) continue; for (int j = i; j; j--) { if (j > 5) break; sum += i * j; } }
  int k = 3;
again:
  sum += k;
  if (--k) goto again;
  do sum ^= 5; while (sum & 1);
  printf("%d %d\n", sum, collatz(27));
}
