// C++: coroutines that threads resume in turn, std::optional, and tasks in futures.
//
// prints: fibonacci 0 1 1 2 3 5 8 13 21 34, sum 88
#include "check.h"
#include <coroutine>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

class Generator {
  public:
    struct promise_type {
        int current = 0;
        Generator get_return_object() { return Generator(Handle::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int value) {
            current = value;
            return {};
        }
        void return_void() {}
        void unhandled_exception() { std::abort(); }
    };
    using Handle = std::coroutine_handle<promise_type>;

    explicit Generator(Handle given) : handle(given) {}
    Generator(const Generator &) = delete;
    ~Generator() { handle.destroy(); }

    std::optional<int> next() {
        std::lock_guard guard(mutex);
        if (handle.done())
            return std::nullopt;
        handle.resume();
        if (handle.done())
            return std::nullopt;
        return handle.promise().current;
    }

  private:
    std::mutex mutex;
    Handle handle;
};

static Generator fibonacci(int count) {
    int a = 0, b = 1;
    for (int i = 0; i < count; i++) {
        co_yield a;
        int sum = a + b;
        a = b;
        b = sum;
    }
}

int main() {
    Generator numbers = fibonacci(10), again = fibonacci(10);
    std::string line;
    while (std::optional<int> number = numbers.next())
        line += " " + std::to_string(*number);
    auto take = [&again] {
        int sum = 0;
        while (std::optional<int> number = again.next())
            sum += *number;
        return sum;
    };
    std::vector<std::future<int>> futures;
    for (int i = 0; i < 3; i++)
        futures.push_back(std::async(std::launch::async, take));
    int sum = 0;
    for (std::future<int> &future : futures)
        sum += future.get();
    std::printf("fibonacci%s, sum %d\n", line.c_str(), sum);
}
