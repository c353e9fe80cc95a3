// std::jthread, stop_token, stop_source, stop_callback: asked to stop, they stop; the destructor asks and joins.
#include "../check.h"
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

int main() {
    std::atomic<int> stopped = 0, called = 0;
    {
        std::jthread spinning([&](std::stop_token token) {
            while (!token.stop_requested())
                std::this_thread::yield();
            stopped++;
        });
        std::jthread waiting([&](std::stop_token token) {
            std::mutex mutex;
            std::condition_variable_any changed;
            std::unique_lock lock(mutex);
            CHECK(!changed.wait(lock, token, [] { return false; }));
            stopped++;
        });
        std::stop_callback callback(spinning.get_stop_token(), [&] { called++; });
        CHECK(spinning.request_stop());
        CHECK(!spinning.request_stop());
        CHECK(called == 1);
    }
    CHECK(stopped == 2);

    std::stop_source source;
    CHECK(source.stop_possible() && !source.stop_requested());
    std::jthread asking([&source] { source.request_stop(); });
    std::stop_token token = source.get_token();
    while (!token.stop_requested())
        std::this_thread::yield();
    std::stop_callback late(token, [&] { called++; });
    CHECK(called == 2);
    asking.join();
    std::puts("ok");
}
