// std::async, std::packaged_task: results and exceptions come through futures, deferred ones run at get.
#include "../check.h"
#include <future>
#include <stdexcept>
#include <thread>

static int square(int number) { return number * number; }

int main() {
    std::future<int> first = std::async(std::launch::async, square, 3);
    std::future<int> second = std::async(std::launch::async, square, 4);
    CHECK(first.get() + second.get() == 25);

    std::thread::id by;
    std::future<void> deferred = std::async(std::launch::deferred, [&] { by = std::this_thread::get_id(); });
    CHECK(by == std::thread::id());
    deferred.get();
    CHECK(by == std::this_thread::get_id());

    std::future<int> throwing = std::async(std::launch::async, []() -> int { throw std::logic_error("no"); });
    bool caught = false;
    try {
        (void)throwing.get();
    } catch (const std::logic_error &) {
        caught = true;
    }
    CHECK(caught);

    std::packaged_task<int(int)> task(square);
    std::future<int> result = task.get_future();
    std::thread thread(std::move(task), 5);
    CHECK(result.get() == 25);
    thread.join();
    std::puts("ok");
}
