// std::atomic::wait, notify_one, notify_all, std::atomic_flag, on words of the futex's size and others.
#include "../check.h"
#include <atomic>
#include <thread>
#include <vector>

template <typename Value> void test() {
    std::atomic<Value> turn(0);
    int handed = 0;
    std::thread other([&] {
        for (Value i = 0; i < 10; i += 2) {
            turn.wait(i);
            CHECK(turn == i + 1 && handed == i + 1);
            handed = i + 2;
            turn = i + 2;
            turn.notify_one();
        }
    });
    for (Value i = 0; i < 10; i += 2) {
        CHECK(handed == i);
        handed = i + 1;
        turn = i + 1;
        turn.notify_one();
        turn.wait(i + 1);
    }
    other.join();
    CHECK(turn == 10 && handed == 10);

    std::atomic<Value> go(0);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&] {
            go.wait(0);
            CHECK(go == 1);
        });
    go = 1;
    go.notify_all();
    for (std::thread &thread : threads)
        thread.join();
}

int main() {
    test<int>();
    test<long>();
    test<unsigned char>();
    std::atomic_flag flag;
    std::thread setting([&] {
        CHECK(!flag.test_and_set());
        flag.notify_one();
    });
    flag.wait(false);
    CHECK(flag.test());
    setting.join();
    std::puts("ok");
}
