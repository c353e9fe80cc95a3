// std::scoped_lock, std::lock, std::try_lock: several mutexes in any order without a deadlock.
#include "../check.h"
#include <mutex>
#include <thread>

int main() {
    std::mutex a, b, c;
    int counter = 0;
    std::thread first([&] {
        for (int i = 0; i < 15; i++) {
            std::scoped_lock lock(a, b, c);
            counter++;
        }
    });
    std::thread second([&] {
        for (int i = 0; i < 15; i++) {
            std::scoped_lock lock(c, b, a);
            counter++;
        }
    });
    std::thread third([&] {
        for (int i = 0; i < 15; i++) {
            std::unique_lock<std::mutex> one(b, std::defer_lock), two(a, std::defer_lock);
            std::lock(one, two);
            counter++;
        }
    });
    first.join();
    second.join();
    third.join();
    CHECK(counter == 45);
    std::lock_guard<std::mutex> guard(b);
    std::thread([&] { CHECK(std::try_lock(a, b, c) == 1); }).join();
    std::puts("ok");
}
