// std::call_once: once; a call that throws does not count, and the next one tries.
#include "../check.h"
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

int main() {
    std::once_flag flag, failing;
    int runs = 0, attempts = 0, caught = 0;
    std::mutex mutex;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] {
            std::call_once(flag, [&] {
                runs++;
                std::this_thread::yield();
                runs++;
            });
            CHECK(runs == 2);
            try {
                std::call_once(failing, [&] {
                    if (++attempts < 3)
                        throw std::runtime_error("not yet");
                });
                CHECK(attempts == 3);
            } catch (const std::runtime_error &) {
                std::lock_guard guard(mutex);
                caught++;
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK(runs == 2 && attempts == 3 && caught == 2);
    std::puts("ok");
}
