// pthread_atfork: prepare handlers run last first before the fork, the others first first after it, in parent and child.
//
// outside: numbers of processes
#include "../check.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static int order[8], steps;

static void prepare1(void) { order[steps++] = 1; }
static void prepare2(void) { order[steps++] = 2; }
static void parent1(void) { order[steps++] = 3; }
static void parent2(void) { order[steps++] = 4; }
static void child1(void) { order[steps++] = 5; }
static void child2(void) { order[steps++] = 6; }

int main(void) {
    CHECK(pthread_atfork(prepare1, parent1, child1) == 0);
    CHECK(pthread_atfork(prepare2, parent2, child2) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    CHECK(steps == 4 && order[0] == 2 && order[1] == 1);
    if (child == 0)
        _exit(order[2] == 5 && order[3] == 6 ? 0 : 1);
    CHECK(order[2] == 3 && order[3] == 4);
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    puts("ok");
}
