// Static objects with constructors and destructors, function-local statics, inline variables, namespaces, constant evaluation.
#include <cstdio>
#include <string>
namespace { struct Log { std::string text; explicit Log(const char *t) : text(t) { std::printf("+%s ", text.c_str()); } ~Log() { std::printf("-%s ", text.c_str()); } }; Log first("first"); int hidden = 3; }
namespace outer::inner { inline int shared = 4; constexpr int square(int n) { return n * n; } static_assert(square(5) == 25); template <int N> inline constexpr int table = square(N); }
static Log &local() { static Log log("local"); return log; }
static int next() { static int n = hidden + outer::inner::shared; return n++; }
struct Literal { unsigned char bytes[4]; constexpr Literal() : bytes{} { for (int i = 0; i < 4; i++) bytes[i] = static_cast<unsigned char>(i * 50); } }; constexpr Literal literal;
int main() { local(); local().text += "!"; next(); std::printf("%d %d %d ", next(), outer::inner::table<6>, literal.bytes[3]); }
