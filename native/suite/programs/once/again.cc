// What an exception leaves is done again: by the same thread or by the other one.
#include <cassert>
#include <mutex>
#include <thread>

static std::once_flag once;
static int tries, made;

static void worker(int number) {
    try {
        std::call_once(once, [number] {
            if (++tries == 1)
                throw number;
            made = number;
        });
    } catch (int) {
    }
}

int main() {
    std::thread first(worker, 1), second(worker, 2);
    first.join();
    second.join();
    // Whoever comes second makes it.
    assert(made == 2);
    return 0;
}
