// Arrays of variable length, alloca, arrays as parameters, compound literals, strings.
#include <alloca.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
static int sum(int n, int m, int a[n][m]) { int s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) s += a[i][j]; return s; }
int main(void) {
  int total = 0;
  for (int n = 1; n < 5; n++) { int a[n][n + 1]; for (int i = 0; i < n; i++) for (int j = 0; j <= n; j++) a[i][j] = i * j; total += sum(n, n + 1, a); char *p = alloca(n * 8); memset(p, n, n * 8); total += p[n]; }
  int *literal = (int[]){1, 2, 3}; const wchar_t *wide = L"wide";
  printf("%d %d %d %s\n", total, literal[2], (int)wide[1], "a\0b" + 2);
}
