// C++: a map of vectors behind a shared_mutex, strings as keys, shared_ptr handed between threads.
//
// prints: apple 30 pear 30 plum 30, owners 1
#include "check.h"
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

class Inventory {
    mutable std::shared_mutex mutex;
    std::map<std::string, std::vector<int>> deliveries;

  public:
    void deliver(const std::string &what, int count) {
        std::unique_lock lock(mutex);
        deliveries[what].push_back(count);
    }

    int stock(const std::string &what) const {
        std::shared_lock lock(mutex);
        auto found = deliveries.find(what);
        return found == deliveries.end() ? 0 : std::accumulate(found->second.begin(), found->second.end(), 0);
    }
};

int main() {
    const std::vector<std::string> kinds = {"apple", "pear", "plum"};
    auto inventory = std::make_shared<Inventory>();
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([inventory, &kinds, i] {
            int before = 0;
            for (int k = 0; k < 6; k++) {
                inventory->deliver(kinds[(k + i) % 3], 5);
                int now = inventory->stock(kinds[i]);
                CHECK(now >= before);
                before = now;
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    threads.clear();
    for (const std::string &kind : kinds)
        std::printf("%s %d%s", kind.c_str(), inventory->stock(kind), kind == "plum" ? "" : " ");
    std::printf(", owners %ld\n", inventory.use_count());
}
