// Builtins that become intrinsics: overflow, bits, rotation, saturation, expectations, memory.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static uint32_t rotate(uint32_t x, unsigned n) { return __builtin_rotateleft32(x, n); }
int main(int argc, char **argv) {
  int s; unsigned u; long l; unsigned long long ull; signed char c;
  int a = __builtin_add_overflow(0x7fffffff, argc, &s), b = __builtin_sub_overflow(0u, (unsigned)argc, &u), d = __builtin_mul_overflow(0x7fffffffffffffffL, argc + 1L, &l), e = __builtin_mul_overflow(~0ull, (unsigned long long)argc, &ull), f = __builtin_add_overflow(100, 100 * argc, &c);
  char one[40], two[40]; memset(one, 'x', sizeof one); memcpy(two, one, 20); memmove(one + 3, one, 10); two[20] = 0;
  if (__builtin_expect(argc > 5, 0)) abort();
  uint32_t x = 0x12345678u * (unsigned)argc;
  printf("%d%d%d%d%d %d %u %ld %llu %d %x %x %d %d %d %llx %x %d %zu %d\n", a, b, d, e, f, s, u, l, ull, c, rotate(x, 8), __builtin_bswap32(x), __builtin_popcount(x), __builtin_clz(x), __builtin_ctzll((uint64_t)x << 33), (unsigned long long)__builtin_bitreverse64(x), (unsigned)__builtin_bswap16((uint16_t)x), abs(-argc), strlen(two), __builtin_constant_p(argc));
}
