// setjmp and longjmp, computed goto.
#include <setjmp.h>
#include <stdio.h>
static jmp_buf place;
static void fail(int n) { if (n > 2) longjmp(place, n); }
static int run(const unsigned char *code) {
  static void *const labels[] = {&&stop, &&push, &&add, &&twice};
  int stack[8], top = 0;
  goto *labels[*code++];
push: stack[top++] = *code++; goto *labels[*code++];
add: top--; stack[top - 1] += stack[top]; goto *labels[*code++];
twice: stack[top - 1] *= 2; goto *labels[*code++];
stop: return stack[top - 1];
}
int main(void) {
  volatile int tries = 0;
  int got = setjmp(place);
  if (got < 5) { tries++; fail(got + 3); }
  const unsigned char code[] = {1, 5, 1, 6, 2, 3, 0};
  printf("%d %d %d\n", got, tries, run(code));
}
