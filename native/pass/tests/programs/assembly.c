// Inline assembly: with results, with memory, asm goto.
#include <stdio.h>
static int twice(int x) { int r; __asm__("leal (%1,%1), %0" : "=r"(r) : "r"(x)); return r; }
static void store(int *to, int value) { __asm__ volatile("movl %1, %0" : "=m"(*to) : "r"(value) : "memory"); }
static int is_zero(int x) { __asm__ goto("testl %0, %0\n\tjz %l1" : : "r"(x) : "cc" : zero); return 0; zero: return 1; }
static unsigned long long both(unsigned a, unsigned b) { unsigned low, high; __asm__("mull %3" : "=a"(low), "=d"(high) : "a"(a), "r"(b) : "cc"); return ((unsigned long long)high << 32) | low; }
__asm__(".globl answer\nanswer: movl $42, %eax\n ret\n");
int answer(void);
int main(void) { int x; store(&x, 9); printf("%d %d %d %d %llx %d\n", twice(21), x, is_zero(0), is_zero(5), both(0xffffffffu, 0x10u), answer()); }
