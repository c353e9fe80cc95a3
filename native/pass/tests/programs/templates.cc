// Templates and containers of the standard library, strings, streams, smart pointers, variants.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>
template <typename T, int N> struct Ring { T items[N]{}; int at = 0; void push(T t) { items[at++ % N] = t; } T sum() const { return std::accumulate(items, items + N, T{}); } };
template <typename... T> static auto add(T... t) { return (t + ... + 0); }
int main() {
  Ring<int, 3> ring; for (int i = 1; i < 6; i++) ring.push(i);
  std::map<std::string, std::vector<int>> index; for (std::string word : {"a", "bb", "a", "ccc", "bb", "a"}) index[word].push_back(int(word.size()));
  std::unordered_map<int, std::string> names; names.emplace(1, "one"); names[2] = "two";
  auto shared = std::make_shared<std::string>("shared"); std::weak_ptr<std::string> weak = shared; auto unique = std::make_unique<int[]>(4); unique[2] = 9;
  std::variant<int, std::string> v = std::string("text"); std::optional<int> none, some = 4;
  std::vector<int> numbers{5, 2, 8, 1}; std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return a > b; });
  std::ostringstream out; for (auto &[word, list] : index) out << word << '=' << list.size() << ' ';
  std::cout << out.str() << ring.sum() << ' ' << add(1, 2, 3) << ' ' << names.at(2) << ' ' << *weak.lock() << ' ' << unique[2] << ' ' << std::get<std::string>(v) << ' ' << some.value_or(0) + none.value_or(1) << ' ' << numbers[0] << '\n';
}
