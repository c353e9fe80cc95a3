// Statics in functions: constructed once, by whoever comes first; others wait; a constructor that throws is tried again.
#include "../check.h"
#include <stdexcept>
#include <thread>
#include <vector>

static int constructions, attempts;

struct Slow {
    int value = 0;
    Slow() {
        constructions++;
        std::this_thread::yield();
        value = 7;
    }
};

struct Failing {
    Failing() {
        if (++attempts == 1)
            throw std::runtime_error("not yet");
    }
};

static Slow &slow() {
    static Slow only;
    return only;
}

static void fail() { static Failing only; }

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([] {
            CHECK(slow().value == 7 && constructions == 1);
            try {
                fail();
            } catch (const std::runtime_error &) {
                fail();
            }
            CHECK(attempts == 2);
        });
    for (std::thread &thread : threads)
        thread.join();
    std::puts("ok");
}
