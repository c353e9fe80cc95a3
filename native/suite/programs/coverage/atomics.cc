// Atomics of structs that are too large for the processor (libatomic), and std::atomic_ref.
//
// libraries: atomic
#include "../check.h"
#include <atomic>
#include <thread>
#include <vector>

struct Wide {
    long a, b, c;
};

int main() {
    std::atomic<Wide> wide(Wide{0, 0, 0});
    int plain = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&] {
            for (int k = 0; k < 10; k++) {
                Wide seen = wide.load(), next;
                do {
                    CHECK(seen.a == seen.b && seen.b == seen.c);
                    next = Wide{seen.a + 1, seen.b + 1, seen.c + 1};
                } while (!wide.compare_exchange_weak(seen, next));
                std::atomic_ref<int>(plain).fetch_add(1);
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK(wide.load().c == 30 && plain == 30);
    std::puts("ok");
}
