// Exceptions: thrown, caught by type, rethrown, through destructors, from constructors, function-try-blocks.
#include <cstdio>
#include <stdexcept>
#include <string>
static int alive;
struct Guard { int n; explicit Guard(int n) : n(n) { alive += n; if (n == 4) throw std::runtime_error("four"); } ~Guard() { alive -= n; } };
struct Base { virtual ~Base() = default; virtual int code() const { return 1; } }; struct Derived : Base { int code() const override { return 2; } };
static int risky(int n) { Guard a(1); Guard b(n); if (n == 2) throw n; if (n == 3) throw Derived(); return n; }
static int guarded(int n) { try { return risky(n); } catch (int i) { return 100 + i; } catch (const Base &b) { return 200 + b.code(); } }
static int outer(int n) try { try { return guarded(n); } catch (...) { alive += 1000; throw; } } catch (const std::exception &e) { return int(std::string(e.what()).size()); }
static int quiet(int n) noexcept { return guarded(n > 3 ? 0 : n); }
int main() { for (int i = 0; i < 5; i++) std::printf("%d ", outer(i)); std::printf("%d %d\n", quiet(7), alive); }
