// std::counting_semaphore, std::binary_semaphore: tokens are neither lost nor made; try_acquire_for gives up in time.
#include "../check.h"
#include <atomic>
#include <chrono>
#include <semaphore>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main() {
    std::counting_semaphore<8> tokens(2);
    std::atomic<int> inside = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&] {
            for (int k = 0; k < 10; k++) {
                tokens.acquire();
                int now = ++inside;
                CHECK(now >= 1 && now <= 2);
                inside--;
                tokens.release();
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK(tokens.try_acquire() && tokens.try_acquire() && !tokens.try_acquire());
    auto start = std::chrono::steady_clock::now();
    CHECK(!tokens.try_acquire_for(2ms) && std::chrono::steady_clock::now() - start >= 2ms);
    auto until = std::chrono::steady_clock::now() + 2ms;
    CHECK(!tokens.try_acquire_until(until) && std::chrono::steady_clock::now() >= until);

    std::binary_semaphore ping(0), pong(0);
    int ball = 0;
    std::thread player([&] {
        for (int i = 0; i < 10; i++) {
            ping.acquire();
            CHECK(ball % 2 == 1);
            ball++;
            pong.release();
        }
    });
    for (int i = 0; i < 10; i++) {
        ball++;
        ping.release();
        while (!pong.try_acquire_for(1s))
            continue;
    }
    CHECK(ball == 20);
    player.join();
    tokens.release(3);
    CHECK(tokens.try_acquire() && tokens.try_acquire() && tokens.try_acquire() && !tokens.try_acquire());
    std::puts("ok");
}
