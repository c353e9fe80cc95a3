// std::thread, mutex, shared_mutex, condition_variable, future, atomic, call_once, thread_local.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>
static std::mutex lock; static std::condition_variable ready; static std::shared_mutex table_lock; static std::once_flag once; static thread_local int mine = 3; static int total, inits; static bool go;
int main() {
  std::atomic<int> hits{0}; std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) threads.emplace_back([i, &hits] { std::call_once(once, [] { inits++; }); std::unique_lock<std::mutex> held(lock); ready.wait(held, [] { return go; }); mine += i; total += mine; held.unlock(); std::shared_lock<std::shared_mutex> reading(table_lock); hits.fetch_add(2, std::memory_order_relaxed); });
  { std::lock_guard<std::mutex> held(lock); go = true; } ready.notify_all();
  for (auto &thread : threads) thread.join();
  auto future = std::async(std::launch::async, [](int x) { return x * x; }, 12); std::promise<int> promise; auto later = promise.get_future(); std::thread setter([&] { promise.set_value(5); }); int five = later.get(); setter.join();
  std::printf("%d %d %d %d %d %d\n", total, inits, hits.load(), future.get(), five, mine);
}
