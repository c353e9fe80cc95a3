// An update of an atomic in two steps loses what comes between them.
// finds: assertion 28: assertion
// finds: atomicity: assertion
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>

static std::atomic<int> count;

static void once()
{
    int seen = count.load();
    count.store(seen + 1);
}

static void whole()
{
    count.fetch_add(10);
}

int main()
{
    std::thread one(once), other(whole);
    one.join();
    other.join();
    //
    assert(count.load() == 11);
    std::puts("done");
}
