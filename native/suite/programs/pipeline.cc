// C++: a pipeline of channels with virtual stages, unique_ptr and std::function, ended by an exception of its own kind.
//
// prints: sum of squares of even numbers 1540
#include "check.h"
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct Closed {};

class Channel {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<int> items;
    bool closed = false;

  public:
    void send(int item) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return items.size() < 3; });
        items.push_back(item);
        changed.notify_all();
    }

    int receive() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return !items.empty() || closed; });
        if (items.empty())
            throw Closed();
        int item = items.front();
        items.pop_front();
        changed.notify_all();
        return item;
    }

    void close() {
        std::lock_guard guard(mutex);
        closed = true;
        changed.notify_all();
    }
};

struct Stage {
    virtual ~Stage() = default;
    virtual void handle(int item, Channel &out) = 0;
};

struct Map : Stage {
    std::function<int(int)> function;
    explicit Map(std::function<int(int)> given) : function(std::move(given)) {}
    void handle(int item, Channel &out) override { out.send(function(item)); }
};

struct Filter : Stage {
    bool (*keeps)(int);
    explicit Filter(bool (*given)(int)) : keeps(given) {}
    void handle(int item, Channel &out) override {
        if (keeps(item))
            out.send(item);
    }
};

int main() {
    std::vector<std::unique_ptr<Stage>> stages;
    stages.push_back(std::make_unique<Filter>([](int item) { return item % 2 == 0; }));
    stages.push_back(std::make_unique<Map>([](int item) { return item * item; }));
    std::vector<Channel> channels(stages.size() + 1);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < stages.size(); i++)
        threads.emplace_back([&, i] {
            try {
                for (;;)
                    stages[i]->handle(channels[i].receive(), channels[i + 1]);
            } catch (const Closed &) {
                channels[i + 1].close();
            }
        });
    std::thread source([&] {
        for (int i = 1; i <= 20; i++)
            channels.front().send(i);
        channels.front().close();
    });
    int sum = 0;
    try {
        for (;;)
            sum += channels.back().receive();
    } catch (const Closed &) {
    }
    source.join();
    for (std::thread &thread : threads)
        thread.join();
    std::printf("sum of squares of even numbers %d\n", sum);
}
