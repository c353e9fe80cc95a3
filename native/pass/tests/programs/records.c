// Structs, nested and by value, unions, bit-fields, flexible and multi-dimensional arrays.
#include <stdio.h>
#include <stdlib.h>
struct point { int x, y; };
struct big { long values[5]; struct point p; };
union both { float f; unsigned u; struct { unsigned char a, b, c, d; } bytes; };
struct bits { unsigned a : 3, b : 5; signed c : 7; unsigned long d : 40; _Bool e : 1; };
struct node { struct node *next; int value; };
struct flexible { int n; int items[]; };
static struct flexible content = {3, {7, 8, 9}};
static int grid[3][4];
static struct point swap(struct point p) { return (struct point){p.y, p.x}; }
static long total(struct big b) { long sum = 0; for (int i = 0; i < 5; i++) sum += b.values[i]; b.values[0] = 99; return sum + b.p.x; }
static struct big make(int n) { struct big b = {{n, n + 1, n + 2, n + 3, n + 4}, {n, -n}}; return b; }
int main(void) {
  struct point p = swap((struct point){1, 2});
  struct big b = make(10);
  union both u = {.f = 1.5f};
  struct bits bits = {5, 17, -3, 0x123456789aUL, 1};
  bits.a++; bits.c -= 5; bits.d <<= 1;
  struct node *list = NULL;
  for (int i = 0; i < 4; i++) { struct node *n = malloc(sizeof *n); n->next = list; n->value = i; list = n; }
  int sum = 0;
  for (struct node *n = list; n; n = n->next) sum = sum * 10 + n->value;
  for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) grid[i][j] = i * j;
  printf("%d %d %ld %ld %x %d %d %d %d %lx %d %d %d %d\n", p.x, p.y, total(b), b.values[0], u.u, u.bytes.d, bits.a, bits.b, bits.c, (unsigned long)bits.d, bits.e, sum, grid[2][3], content.items[2]);
  while (list) { struct node *n = list->next; free(list); list = n; }
}
