// flags: -std=c++20
// link: -latomic
// std::atomic with all orders, of pointers, floats and small structs; wait and notify; fences; atomic_ref.
#include <atomic>
#include <cstdio>
#include <thread>
struct Pair { int a, b; }; struct Wide { long a, b; };
int main() {
  std::atomic<int> n{1}; std::atomic<int *> p{nullptr}; std::atomic<float> f{1.5f}; std::atomic<Pair> pair{Pair{1, 2}}; std::atomic<Wide> wide{Wide{3, 4}}; std::atomic<bool> done{false}; std::atomic_flag flag; int plain = 4, target[3] = {1, 2, 3};
  n.store(2, std::memory_order_relaxed); n.fetch_add(3, std::memory_order_acq_rel); n.fetch_or(8, std::memory_order_release); n ^= 1; int e = 12; bool swapped = n.compare_exchange_strong(e, 20, std::memory_order_release, std::memory_order_relaxed); p = target; p++; f.fetch_add(0.5f); Pair want = pair.load(std::memory_order_acquire); bool pair_swapped = pair.compare_exchange_weak(want, Pair{5, 6}); Wide w = wide.exchange(Wide{7, 8}); std::atomic_ref<int>(plain).fetch_sub(3, std::memory_order_consume); std::atomic_thread_fence(std::memory_order_seq_cst);
  std::thread t([&] { done.wait(false); flag.test_and_set(); flag.notify_all(); }); done = true; done.notify_one(); flag.wait(false); t.join();
  std::printf("%d %d %d %.1f %d %d %ld %ld %d %d\n", n.load(), swapped, *p.load(), double(f.load()), pair_swapped || true, pair.load().b > 0, w.b, wide.load().a, plain, int(flag.test()));
}
