// Lambdas with captures, generic and mutable ones, std::function, structured bindings, ranges of initialisers.
#include <cstdio>
#include <functional>
#include <tuple>
#include <utility>
static std::function<int(int)> adder(int n) { return [n](int x) { return x + n; }; }
static auto counter() { return [n = 0]() mutable { return ++n; }; }
struct Owner { int value = 6; auto get() { return [this, extra = 4](auto x) { return value * x + extra; }; } };
static std::pair<int, long> two() { return {3, 4L}; }
int main() { auto next = counter(); next(); next(); int sum = 0; auto each = [&sum](std::initializer_list<int> list) { for (int i : list) sum += i; }; each({1, 2, 3}); auto [a, b] = two(); auto [x, y, z] = std::make_tuple(1, 2.5, 'c'); std::function<int(int)> fib = [&](int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }; Owner owner; int (*plain)(int) = [](int v) { return -v; };
  std::printf("%d %d %d %d %.1f %c %d %d %d\n", adder(5)(6), next(), sum, int(a + b) + x, y, z, fib(10), owner.get()(7), plain(8)); }
