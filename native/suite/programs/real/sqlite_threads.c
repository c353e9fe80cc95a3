// SQLite in serialized mode: four threads share one connection to a database in memory; each adds rows and asks questions.
//
// prints: 80 rows, sum 6320, 4 owners
#include "../check.h"
#include <pthread.h>
#include <sqlite3.h>

enum { THREADS = 4, ROWS = 20 };

static sqlite3 *database;

static void execute(const char *text) {
    char *message = NULL;
    if (sqlite3_exec(database, text, NULL, NULL, &message) != SQLITE_OK)
        fprintf(stderr, "%s: %s\n", text, message);
    CHECK(!message);
}

static int ask(const char *text) {
    sqlite3_stmt *statement;
    CHECK(sqlite3_prepare_v2(database, text, -1, &statement, NULL) == SQLITE_OK);
    CHECK(sqlite3_step(statement) == SQLITE_ROW);
    int answer = sqlite3_column_int(statement, 0);
    CHECK(sqlite3_finalize(statement) == SQLITE_OK);
    return answer;
}

static void *owner(void *argument) {
    int me = *(int *)argument;
    sqlite3_stmt *insert;
    CHECK(sqlite3_prepare_v2(database, "insert into items(owner, number) values (?, ?)", -1, &insert, NULL) == SQLITE_OK);
    for (int i = 0; i < ROWS; i++) {
        sqlite3_bind_int(insert, 1, me);
        sqlite3_bind_int(insert, 2, me * ROWS * 2 + i * 2);
        CHECK(sqlite3_step(insert) == SQLITE_DONE);
        CHECK(sqlite3_reset(insert) == SQLITE_OK);
        if (i % 5 == 0)
            CHECK(ask("select count(*) from items") > i);
    }
    CHECK(sqlite3_finalize(insert) == SQLITE_OK);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int names[THREADS];
    CHECK(sqlite3_threadsafe() == 1);
    CHECK(sqlite3_open_v2(":memory:", &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, NULL) ==
          SQLITE_OK);
    execute("create table items(id integer primary key, owner int, number int unique)");
    for (int i = 0; i < THREADS; i++) {
        names[i] = i;
        CHECK(pthread_create(&threads[i], NULL, owner, &names[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    printf("%d rows, sum %d, %d owners\n", ask("select count(*) from items"), ask("select sum(number) from items"),
           ask("select count(distinct owner) from items"));
    CHECK(sqlite3_close(database) == SQLITE_OK);
}
