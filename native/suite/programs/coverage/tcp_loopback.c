// accept, connect on loopback: a server thread and two clients.
#include "../check.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in address;
static int listening;

static void *serve(void *unused) {
    for (int i = 0; i < 2; i++) {
        char byte;
        int connection = accept(listening, NULL, NULL);
        CHECK(connection >= 0);
        CHECK(read(connection, &byte, 1) == 1);
        byte++;
        CHECK(write(connection, &byte, 1) == 1);
        CHECK(close(connection) == 0);
    }
    return NULL;
}

static void *ask(void *argument) {
    char byte = *(char *)argument;
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(connection >= 0);
    CHECK(connect(connection, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(write(connection, &byte, 1) == 1);
    CHECK(read(connection, &byte, 1) == 1 && byte == *(char *)argument + 1);
    CHECK(read(connection, &byte, 1) == 0);
    CHECK(close(connection) == 0);
    return NULL;
}

int main(void) {
    pthread_t server, clients[2];
    char letters[2] = {'a', 'x'};
    socklen_t length = sizeof address;
    listening = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(listening >= 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(bind(listening, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(getsockname(listening, (struct sockaddr *)&address, &length) == 0);
    CHECK(listen(listening, 4) == 0);
    CHECK(pthread_create(&server, NULL, serve, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&clients[i], NULL, ask, &letters[i]) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(clients[i], NULL) == 0);
    CHECK(pthread_join(server, NULL) == 0);
    puts("ok");
}
