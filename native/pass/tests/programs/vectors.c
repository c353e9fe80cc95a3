// Vector types, their arithmetic, comparison, shuffles, and masks.
#include <stdio.h>
typedef int v4 __attribute__((vector_size(16)));
typedef float f4 __attribute__((vector_size(16)));
typedef int v3 __attribute__((ext_vector_type(3)));
static v4 mix(v4 a, v4 b) { v4 greater = a > b; return (a & greater) | (b & ~greater); }
static int dot(v4 a, v4 b) { v4 p = a * b; return p[0] + p[1] + p[2] + p[3]; }
int main(void) {
  v4 a = {1, 8, 3, 9}, b = {5, 2, 7, 4}, m = mix(a, b), s = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  f4 f = __builtin_convertvector(m, f4) * 0.5f;
  v3 three = {1, 2, 3}; three.zx = three.xy;
  int total = 0, numbers[64];
  for (int i = 0; i < 64; i++) numbers[i] = i * i;
  for (int i = 0; i < 64; i++) total += numbers[i];
  printf("%d %d %d %d %d %.1f %d %d\n", m[0], m[1], dot(a, b), s[1], s[3], f[1], three.x * 100 + three.y * 10 + three.z, total);
}
