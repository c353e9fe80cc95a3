// std::thread: arguments, join, detach, ids, this_thread::yield and sleep_for; hardware_concurrency answers.
#include "../check.h"
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

int main() {
    std::vector<std::string> results(4);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back(
            [&results](int number, std::string text) {
                std::this_thread::yield();
                results[number] = text + std::to_string(number);
            },
            i, "thread ");
    CHECK(threads[0].get_id() != threads[1].get_id());
    for (std::thread &thread : threads) {
        CHECK(thread.joinable());
        thread.join();
        CHECK(!thread.joinable());
    }
    for (int i = 0; i < 4; i++)
        CHECK(results[i] == "thread " + std::to_string(i));

    std::atomic<bool> done = false;
    std::thread([&done] { done = true; }).detach();
    while (!done)
        std::this_thread::yield();

    auto start = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(2));
    auto until = std::chrono::system_clock::now() + std::chrono::milliseconds(2);
    std::this_thread::sleep_until(until);
    CHECK(std::chrono::system_clock::now() >= until);
    CHECK(std::thread::hardware_concurrency() < 100000);
    std::puts("ok");
}
