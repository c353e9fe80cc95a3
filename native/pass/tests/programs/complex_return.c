// Structs returned and passed in registers and in memory, of every class of the calling convention.
#include <stdio.h>
struct one { char c; }; struct pair { long a, b; }; struct mixed { double d; int i; }; struct three { float x, y, z; }; struct large { int v[10]; }; struct empty {};
static struct one make_one(int c) { return (struct one){(char)c}; } static struct pair make_pair(long a) { return (struct pair){a, a + 1}; } static struct mixed make_mixed(int i) { return (struct mixed){i / 2.0, i}; } static struct three make_three(float f) { return (struct three){f, f * 2, f * 3}; } static struct large make_large(int n) { struct large l; for (int i = 0; i < 10; i++) l.v[i] = n * i; return l; } static struct empty nothing(void) { struct empty e; return e; }
static long use(struct one o, struct pair p, struct mixed m, struct three t, struct large l, struct empty e) { (void)e; l.v[3] += 100; return o.c + p.a * p.b + (long)m.d + m.i + (long)(t.x + t.y + t.z) + l.v[3]; }
int main(void) { struct large l = make_large(3); long r = use(make_one('a'), make_pair(6), make_mixed(9), make_three(1.5f), l, nothing()); printf("%ld %d\n", r, l.v[3]); }
