// std::condition_variable: notify_one, notify_all, wait with and without a condition, wait_for, wait_until.
#include "../check.h"
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main() {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<int> queue;
    int sum = 0;
    std::vector<std::thread> consumers;
    for (int i = 0; i < 2; i++)
        consumers.emplace_back([&] {
            for (;;) {
                std::unique_lock lock(mutex);
                changed.wait(lock, [&] { return !queue.empty(); });
                int item = queue.front();
                if (item == 0)
                    return;
                queue.pop_front();
                sum += item;
            }
        });
    for (int i = 1; i <= 20; i++) {
        std::lock_guard guard(mutex);
        queue.push_back(i);
        changed.notify_one();
    }
    {
        std::lock_guard guard(mutex);
        queue.push_back(0);
        changed.notify_all();
    }
    for (std::thread &thread : consumers)
        thread.join();
    CHECK(sum == 210);

    std::unique_lock lock(mutex);
    auto start = std::chrono::steady_clock::now();
    CHECK(!changed.wait_for(lock, 2ms, [] { return false; }));
    CHECK(std::chrono::steady_clock::now() - start >= 2ms);
    auto until = std::chrono::system_clock::now() + 2ms;
    while (changed.wait_until(lock, until) == std::cv_status::no_timeout)
        continue;
    CHECK(std::chrono::system_clock::now() >= until && lock.owns_lock());
    std::puts("ok");
}
