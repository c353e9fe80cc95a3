// exec in a child, posix_spawn, system, popen: other programs run as they are, this one too.
//
// outside: numbers of processes
#include "../check.h"
#include <pthread.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void *spawning(void *unused) {
    char *const words[] = {"sh", "-c", "exit 4", NULL};
    pid_t child;
    int status;
    CHECK(posix_spawnp(&child, "sh", NULL, NULL, words, environ) == 0);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 4);
    return NULL;
}

int main(int count, char **words) {
    if (count > 1)
        return strcmp(words[1], "again") == 0 ? 5 : 6;
    pthread_t thread;
    int status;
    char line[16] = "";
    CHECK(pthread_create(&thread, NULL, spawning, NULL) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        execl("/proc/self/exe", words[0], "again", (char *)NULL);
        _exit(7);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5);
    CHECK(pthread_join(thread, NULL) == 0);
    status = system("exit 3");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    FILE *output = popen("echo hello", "r");
    CHECK(output != NULL && fgets(line, sizeof line, output) && strcmp(line, "hello\n") == 0);
    CHECK(pclose(output) == 0);
    puts("ok");
}
