// Floats of all sizes, conversions, comparisons, complex numbers.
#include <complex.h>
#include <math.h>
#include <stdio.h>
static float half(float x) { return x / 2; }
static long double third(long double x) { return x / 3; }
static int classify(double x) { return x < 0 ? -1 : x > 0 ? 1 : x == 0 ? 0 : 2; }
int main(void) {
  _Float16 small = 1.5; double sum = 0;
  for (int i = 1; i < 50; i++) sum += 1.0 / i;
  double complex z = (1 + 2 * I) * (3 - I);
  printf("%.6f %.6Lf %d %d %d %.3f %d %u %.2f %.2f %ld\n", sum, third(10), classify(-2), classify(0), classify(NAN), half(3), (int)-2.7, (unsigned)3.9f, creal(z), cimag(z), lrint((float)small * 3));
}
