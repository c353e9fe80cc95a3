// Function pointers in tables and arguments, pointers to pointers, pointer differences, casts to integers.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef int (*operation)(int, int);
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }
static const struct { const char *name; operation run; } table[] = {{"add", add}, {"sub", sub}, {"mul", mul}};
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static operation choose(int n) { return table[n % 3].run; }
static int old_style();
int counter, *where = &counter + 0, **way = &where;
int main(void) {
  int numbers[] = {5, 3, 9, 1};
  qsort(numbers, 4, sizeof *numbers, compare);
  for (int i = 0; i < 3; i++) printf("%s %d ", table[i].name, choose(i)(6, 7));
  **way = 41; ++*where;
  uintptr_t bits = (uintptr_t)&numbers[2];
  int *back = (int *)(bits | 0);
  char text[] = "threadbare";
  printf("%d %d %d %td %zu %d\n", numbers[0], counter, *back, &numbers[3] - numbers, strlen(strchr(text, 'b')), old_style(3, 4));
}
static int old_style(a, b) int a, b; { return a * 10 + b; }
