// std::latch: count_down, try_wait, wait, arrive_and_wait: nobody passes before the count is 0.
#include "../check.h"
#include <atomic>
#include <latch>
#include <thread>
#include <vector>

int main() {
    std::latch start(1), arrived(3), done(4);
    int values[3] = {};
    std::atomic<int> passed = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&, i] {
            start.wait();
            values[i] = i + 1;
            arrived.arrive_and_wait();
            CHECK(values[0] + values[1] + values[2] == 6);
            passed++;
            done.count_down();
        });
    CHECK(passed == 0 && !start.try_wait() && !done.try_wait());
    start.count_down();
    done.count_down();
    done.wait();
    CHECK(passed == 3);
    for (std::thread &thread : threads)
        thread.join();
    std::puts("ok");
}
