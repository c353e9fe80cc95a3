// Variable arguments: read, copied, passed on.
#include <stdarg.h>
#include <stdio.h>
static long sum(int n, ...) { va_list list, copy; va_start(list, n); va_copy(copy, list); long total = 0; for (int i = 0; i < n; i++) total += va_arg(list, int); total += 100 * va_arg(copy, int); va_end(copy); va_end(list); return total; }
static double mixed(const char *kinds, ...) { va_list list; va_start(list, kinds); double r = 0; for (; *kinds; kinds++) r += *kinds == 'd' ? va_arg(list, double) : *kinds == 'l' ? va_arg(list, long) : *va_arg(list, int *); va_end(list); return r; }
static int say(char *out, size_t n, const char *format, ...) { va_list list; va_start(list, format); int r = vsnprintf(out, n, format, list); va_end(list); return r; }
int main(void) { char text[32]; int five = 5; int n = say(text, sizeof text, "%s-%d", "x", 12); printf("%ld %g %d %s\n", sum(4, 1, 2, 3, 4), mixed("dlp", 1.5, 2L, &five), n, text); }
