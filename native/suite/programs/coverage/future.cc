// std::promise, future, shared_future: values, exceptions, broken promises, wait_for.
#include "../check.h"
#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

using namespace std::chrono_literals;

int main() {
    std::promise<std::string> promise;
    std::future<std::string> future = promise.get_future();
    auto start = std::chrono::steady_clock::now();
    CHECK(future.wait_for(2ms) == std::future_status::timeout);
    CHECK(std::chrono::steady_clock::now() - start >= 2ms);
    std::thread keeping([&] { promise.set_value("kept"); });
    CHECK(future.get() == "kept");
    keeping.join();

    std::promise<int> failing;
    std::future<int> failure = failing.get_future();
    std::thread throwing([&] { failing.set_exception(std::make_exception_ptr(std::runtime_error("no"))); });
    try {
        (void)failure.get();
        CHECK(!"reached");
    } catch (const std::runtime_error &error) {
        CHECK(std::string(error.what()) == "no");
    }
    throwing.join();

    std::promise<int> several;
    std::shared_future<int> shared = several.get_future().share();
    std::thread first([shared] { CHECK(shared.get() == 3); }), second([shared] { CHECK(shared.get() == 3); });
    several.set_value(3);
    first.join();
    second.join();

    std::future<int> broken;
    {
        std::promise<int> forgotten;
        broken = forgotten.get_future();
    }
    try {
        (void)broken.get();
        CHECK(!"reached");
    } catch (const std::future_error &error) {
        CHECK(error.code() == std::future_errc::broken_promise);
    }

    std::promise<int> late;
    std::future<int> exiting = late.get_future();
    std::thread leaving([&] { late.set_value_at_thread_exit(8); });
    CHECK(exiting.get() == 8);
    leaving.join();
    std::puts("ok");
}
