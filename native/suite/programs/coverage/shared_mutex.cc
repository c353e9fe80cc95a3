// std::shared_mutex, std::shared_timed_mutex, shared_lock: readers together, writers alone; timed ones give up in time.
#include "../check.h"
#include <barrier>
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

template <typename Mutex> void test() {
    Mutex mutex;
    int first = 0, second = 0;
    std::vector<std::thread> threads;
    std::barrier together(2);
    for (int i = 0; i < 2; i++)
        threads.emplace_back([&] {
            for (int k = 0; k < 15; k++) {
                std::unique_lock<Mutex> lock(mutex);
                first++;
                second++;
            }
        });
    for (int i = 0; i < 2; i++)
        threads.emplace_back([&] {
            for (int k = 0; k < 15; k++) {
                std::shared_lock<Mutex> lock(mutex);
                CHECK(first == second);
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK(first == 30);
    threads.clear();
    // Both are inside at once, or this would never end.
    for (int i = 0; i < 2; i++)
        threads.emplace_back([&] {
            std::shared_lock<Mutex> lock(mutex);
            together.arrive_and_wait();
        });
    for (std::thread &thread : threads)
        thread.join();
    mutex.lock_shared();
    std::thread([&] {
        CHECK(!mutex.try_lock() && mutex.try_lock_shared());
        mutex.unlock_shared();
    }).join();
    mutex.unlock_shared();
}

int main() {
    test<std::shared_mutex>();
    test<std::shared_timed_mutex>();
    std::shared_timed_mutex mutex;
    mutex.lock();
    std::thread([&] {
        auto start = std::chrono::steady_clock::now();
        CHECK(!mutex.try_lock_for(1ms) && !mutex.try_lock_shared_for(1ms));
        CHECK(std::chrono::steady_clock::now() - start >= 2ms);
    }).join();
    mutex.unlock();
    std::puts("ok");
}
