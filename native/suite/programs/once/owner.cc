// The same with a variable of a function, which C++ initialises once.
#include <cassert>
#include <thread>

static int made_by(int number) {
    return number;
}

static int owner(int number) {
    static int owner = made_by(number);
    return owner;
}

int main() {
    std::thread first([] { owner(1); }), second([] { owner(2); });
    first.join();
    second.join();
    assert(owner(3) == 1);
    return 0;
}
