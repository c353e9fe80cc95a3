// A variable of a function is initialised before anybody uses it, whoever comes first.
#include <cstdio>
#include <thread>

struct Table {
    int entry[4];
    Table() {
        for (int i = 0; i < 4; i++)
            entry[i] = i;
    }
};

static const Table &table() {
    static Table table;
    return table;
}

static int sums[2];

static void worker(int number) {
    for (int entry : table().entry)
        sums[number] += entry;
}

int main() {
    std::thread first(worker, 0), second(worker, 1);
    first.join();
    second.join();
    std::printf("%d %d\n", sums[0], sums[1]);
    return 0;
}
