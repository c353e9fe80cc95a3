// std::timed_mutex, std::recursive_timed_mutex: try_lock_for and try_lock_until give up, not before their time.
#include "../check.h"
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

template <typename Mutex> void test() {
    Mutex mutex;
    mutex.lock();
    std::thread([&] {
        auto start = steady::now();
        CHECK(!mutex.try_lock_for(2ms) && steady::now() - start >= 2ms);
        auto until = std::chrono::system_clock::now() + 2ms;
        CHECK(!mutex.try_lock_until(until) && std::chrono::system_clock::now() >= until);
        CHECK(!mutex.try_lock());
    }).join();
    mutex.unlock();
    int counter = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&] {
            for (int k = 0; k < 10; k++) {
                while (!mutex.try_lock_for(1s))
                    continue;
                counter++;
                mutex.unlock();
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK(counter == 30);
}

int main() {
    test<std::timed_mutex>();
    test<std::recursive_timed_mutex>();
    std::puts("ok");
}
