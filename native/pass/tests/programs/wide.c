// 128-bit integers, _BitInt of odd and of large widths.
#include <stdio.h>
typedef unsigned __int128 u128;
static u128 power(u128 base, unsigned n) { u128 r = 1; while (n--) r *= base; return r; }
static void show(u128 n) { printf("%016llx%016llx ", (unsigned long long)(n >> 64), (unsigned long long)n); }
static _BitInt(37) odd(_BitInt(37) a, _BitInt(37) b) { return a * b + (a >> 3); }
static unsigned _BitInt(200) large(unsigned _BitInt(200) a) { return a * a + 1; }
int main(void) {
  show(power(10, 30)); show(power(3, 80) / 12345678901234567ULL); show((__int128)-7 / 2); show(~(u128)0 % 1000);
  __int128 negative = -((__int128)1 << 100);
  printf("%d %lld %lld %llx\n", negative < 0, (long long)(negative >> 90), (long long)odd(12345, 678910), (unsigned long long)(large((unsigned _BitInt(200))1 << 90) >> 150));
}
