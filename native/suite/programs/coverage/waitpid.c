// wait, waitpid, waitid: a thread waits for a child process while another goes on.
//
// outside: numbers of processes
#include "../check.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2];

static void *releasing(void *unused) {
    for (int i = 0; i < 3; i++)
        CHECK(write(ends[1], "x", 1) == 1);
    return NULL;
}

static pid_t child(int status) {
    pid_t made = fork();
    CHECK(made >= 0);
    if (made == 0) {
        char byte;
        _exit(read(ends[0], &byte, 1) == 1 ? status : 99);
    }
    return made;
}

int main(void) {
    pthread_t thread;
    int status;
    siginfo_t information;
    CHECK(pipe(ends) == 0);
    pid_t first = child(1), second = child(2);
    CHECK(waitpid(first, &status, WNOHANG) == 0);
    // The children end only after this thread has written, and this one waits for them.
    CHECK(pthread_create(&thread, NULL, releasing, NULL) == 0);
    CHECK(waitpid(first, &status, 0) == first && WIFEXITED(status) && WEXITSTATUS(status) == 1);
    CHECK(wait(&status) == second && WIFEXITED(status) && WEXITSTATUS(status) == 2);
    pid_t third = child(3);
    CHECK(waitid(P_PID, third, &information, WEXITED) == 0);
    CHECK(information.si_pid == third && information.si_status == 3);
    CHECK(wait(&status) == -1 && errno == ECHILD);
    CHECK(pthread_join(thread, NULL) == 0);
    puts("ok");
}
