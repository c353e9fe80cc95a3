// std::condition_variable_any with a shared_lock, and std::notify_all_at_thread_exit.
#include "../check.h"
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

using namespace std::chrono_literals;

struct Last {
    bool *destroyed;
    ~Last() { *destroyed = true; }
};

int main() {
    std::shared_mutex mutex;
    std::condition_variable_any changed;
    bool ready = false, destroyed = false, finished = false;
    std::thread waiting([&] {
        std::shared_lock lock(mutex);
        changed.wait(lock, [&] { return ready; });
        CHECK(lock.owns_lock());
    });
    {
        std::unique_lock lock(mutex);
        ready = true;
    }
    changed.notify_one();
    waiting.join();
    {
        std::unique_lock lock(mutex);
        auto start = std::chrono::steady_clock::now();
        CHECK(!changed.wait_for(lock, 2ms, [] { return false; }));
        CHECK(std::chrono::steady_clock::now() - start >= 2ms);
    }

    std::mutex plain;
    std::condition_variable end;
    std::thread ending([&] {
        std::unique_lock lock(plain);
        static thread_local Last last{&destroyed};
        CHECK(last.destroyed == &destroyed);
        finished = true;
        std::notify_all_at_thread_exit(end, std::move(lock));
    });
    {
        std::unique_lock lock(plain);
        end.wait(lock, [&] { return finished; });
        CHECK(destroyed);
    }
    ending.join();
    std::puts("ok");
}
