// std::mutex, lock_guard, unique_lock, try_lock: exclusion.
#include "../check.h"
#include <mutex>
#include <thread>
#include <vector>

int main() {
    std::mutex mutex;
    int counter = 0, inside = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&] {
            for (int k = 0; k < 30; k++) {
                std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
                if (k % 3 == 0) {
                    while (!lock.try_lock())
                        std::this_thread::yield();
                } else {
                    lock.lock();
                }
                CHECK(++inside == 1);
                counter++;
                inside--;
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK(counter == 90);
    std::lock_guard<std::mutex> guard(mutex);
    std::thread([&] { CHECK(!mutex.try_lock()); }).join();
    std::puts("ok");
}
