// Exceptions in threads: caught where they should be, handed on as exception_ptr, destructors run on the way.
#include "../check.h"
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::mutex mutex;
static int unwound;

struct Guard {
    ~Guard() {
        std::lock_guard lock(mutex);
        unwound++;
    }
};

static void descend(int depth) {
    Guard guard;
    if (depth == 0)
        throw std::out_of_range("bottom");
    descend(depth - 1);
}

int main() {
    std::exception_ptr failures[3];
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&, i] {
            try {
                descend(i);
            } catch (const std::exception &) {
                failures[i] = std::current_exception();
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK(unwound == 6);
    for (std::exception_ptr &failure : failures) {
        bool caught = false;
        try {
            std::rethrow_exception(failure);
        } catch (const std::out_of_range &error) {
            caught = std::string(error.what()) == "bottom";
        }
        CHECK(caught);
    }
    std::puts("ok");
}
