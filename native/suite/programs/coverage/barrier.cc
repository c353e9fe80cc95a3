// std::barrier with a completion function: it runs once a round, between the last arrival and the first leaving;
// arrive_and_drop leaves for good.
#include "../check.h"
#include <barrier>
#include <thread>
#include <vector>

int main() {
    int values[3] = {}, rounds = 0;
    auto completion = [&]() noexcept {
        rounds++;
        for (int value : values)
            CHECK(value == rounds);
    };
    std::barrier barrier(3, completion);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&, i] {
            for (int round = 1; round <= 8; round++) {
                values[i] = round;
                if (round % 2)
                    barrier.arrive_and_wait();
                else
                    barrier.wait(barrier.arrive());
                CHECK(rounds == round);
            }
            values[i] = 9;
            barrier.arrive_and_drop();
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK(rounds == 9);

    // One of two drops; the other goes on alone.
    std::barrier pair(2);
    std::thread dropping([&] { pair.arrive_and_drop(); });
    for (int i = 0; i < 3; i++)
        pair.arrive_and_wait();
    dropping.join();
    std::puts("ok");
}
