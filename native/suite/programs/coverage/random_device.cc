// std::random_device, <chrono>'s clocks: they answer; seeded generators repeat.
#include "../check.h"
#include <chrono>
#include <random>
#include <thread>

int main() {
    auto work = [] {
        std::random_device device;
        std::mt19937 first(device());
        std::mt19937 second = first;
        std::uniform_int_distribution<int> die(1, 6);
        for (int i = 0; i < 10; i++) {
            int thrown = die(first);
            CHECK(thrown >= 1 && thrown <= 6 && thrown == die(second));
        }
        auto steady = std::chrono::steady_clock::now();
        CHECK(std::chrono::steady_clock::now() >= steady);
        CHECK(std::chrono::system_clock::now().time_since_epoch().count() > 0);
        CHECK(std::chrono::high_resolution_clock::now().time_since_epoch().count() > 0);
    };
    std::thread first(work), second(work);
    first.join();
    second.join();
    std::puts("ok");
}
