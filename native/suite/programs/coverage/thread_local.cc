// thread_local objects: constructed in each thread that uses them, destroyed at its end, before join returns.
#include "../check.h"
#include <atomic>
#include <string>
#include <thread>
#include <vector>

static std::atomic<int> constructed, destroyed;

struct Counted {
    std::string text = "a thread's own, and too long to be stored in place";
    Counted() { constructed++; }
    ~Counted() {
        CHECK(text.size() > 40);
        destroyed++;
    }
};

static thread_local Counted counted;
static thread_local int number = 3;

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([i] {
            counted.text += std::to_string(i);
            number += i;
            std::this_thread::yield();
            CHECK(counted.text.back() == '0' + i && number == 3 + i);
        });
    threads.emplace_back([] {});
    for (std::thread &thread : threads)
        thread.join();
    CHECK(constructed == 3 && destroyed == 3);
    std::puts("ok");
}
