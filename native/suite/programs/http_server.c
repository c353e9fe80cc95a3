// A small HTTP server on loopback: one thread accepts, two workers answer, three clients ask.
//
// prints: 200 hello, 200 count, 404 missing
#include "check.h"
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS = 3, WORKERS = 2 };

static struct sockaddr_in address;
static int listening, queue[CLIENTS], queued, taken, served;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static const char *paths[CLIENTS] = {"/hello", "/count", "/other"};
static char answers[CLIENTS][32];

// Reads until an empty line, or the end.
static void receive(int connection, char *text, size_t room) {
    size_t length = 0;
    ssize_t got;
    text[0] = '\0';
    while (length + 1 < room && (got = read(connection, text + length, room - 1 - length)) > 0) {
        length += got;
        text[length] = '\0';
        if (strstr(text, "\r\n\r\n"))
            break;
    }
}

static void answer(int connection) {
    char request[256], path[32], response[256];
    receive(connection, request, sizeof request);
    CHECK(sscanf(request, "GET %31s HTTP/1.0", path) == 1);
    const char *status = "200 hello";
    if (strcmp(path, "/count") == 0)
        status = "200 count";
    else if (strcmp(path, "/hello") != 0)
        status = "404 missing";
    int length = snprintf(response, sizeof response, "HTTP/1.0 %s\r\nContent-Length: 0\r\n\r\n", status);
    CHECK(write(connection, response, length) == length);
    CHECK(close(connection) == 0);
}

static void *worker(void *unused) {
    for (;;) {
        pthread_mutex_lock(&mutex);
        while (taken == queued && taken < CLIENTS)
            pthread_cond_wait(&more, &mutex);
        if (taken == CLIENTS) {
            pthread_mutex_unlock(&mutex);
            return NULL;
        }
        int connection = queue[taken++];
        if (taken == CLIENTS)
            pthread_cond_broadcast(&more);
        pthread_mutex_unlock(&mutex);
        answer(connection);
        pthread_mutex_lock(&mutex);
        served++;
        pthread_mutex_unlock(&mutex);
    }
}

static void *accepting(void *unused) {
    for (int i = 0; i < CLIENTS; i++) {
        int connection = accept(listening, NULL, NULL);
        CHECK(connection >= 0);
        pthread_mutex_lock(&mutex);
        queue[queued++] = connection;
        pthread_cond_signal(&more);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *client(void *argument) {
    int me = *(int *)argument;
    char text[256];
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(connection >= 0 && connect(connection, (struct sockaddr *)&address, sizeof address) == 0);
    int length = snprintf(text, sizeof text, "GET %s HTTP/1.0\r\n\r\n", paths[me]);
    CHECK(write(connection, text, length) == length);
    receive(connection, text, sizeof text);
    CHECK(sscanf(text, "HTTP/1.0 %31[^\r]", answers[me]) == 1);
    CHECK(close(connection) == 0);
    return NULL;
}

int main(void) {
    pthread_t acceptor, workers[WORKERS], clients[CLIENTS];
    int names[CLIENTS] = {0, 1, 2};
    socklen_t length = sizeof address;
    listening = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(listening >= 0 && bind(listening, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(getsockname(listening, (struct sockaddr *)&address, &length) == 0 && listen(listening, CLIENTS) == 0);
    CHECK(pthread_create(&acceptor, NULL, accepting, NULL) == 0);
    for (int i = 0; i < WORKERS; i++)
        CHECK(pthread_create(&workers[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < CLIENTS; i++)
        CHECK(pthread_create(&clients[i], NULL, client, &names[i]) == 0);
    for (int i = 0; i < CLIENTS; i++)
        CHECK(pthread_join(clients[i], NULL) == 0);
    for (int i = 0; i < WORKERS; i++)
        CHECK(pthread_join(workers[i], NULL) == 0);
    CHECK(pthread_join(acceptor, NULL) == 0);
    CHECK(served == CLIENTS);
    printf("%s, %s, %s\n", answers[0], answers[1], answers[2]);
}
