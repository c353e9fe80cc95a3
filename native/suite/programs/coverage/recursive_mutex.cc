// std::recursive_mutex: its holder can lock it again, others wait until the last unlock.
#include "../check.h"
#include <mutex>
#include <thread>

static std::recursive_mutex mutex;
static int counter;

static void add(int depth) {
    std::lock_guard<std::recursive_mutex> guard(mutex);
    int seen = counter;
    if (depth > 0)
        add(depth - 1);
    counter++;
    CHECK(counter == seen + depth + 1);
}

int main() {
    auto work = [] {
        for (int i = 0; i < 15; i++)
            add(2);
    };
    std::thread first(work), second(work);
    first.join();
    second.join();
    CHECK(counter == 90);
    CHECK(mutex.try_lock() && mutex.try_lock());
    mutex.unlock();
    std::thread([] { CHECK(!mutex.try_lock()); }).join();
    mutex.unlock();
    std::thread([] {
        CHECK(mutex.try_lock());
        mutex.unlock();
    }).join();
    std::puts("ok");
}
