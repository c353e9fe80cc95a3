// What the test programs share: a check that ends the program, and times on a clock.
#ifndef CHECK_H
#define CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                    \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

// A length of time.
static inline struct timespec milliseconds(long count) {
    struct timespec length = {count / 1000, count % 1000 * 1000000};
    return length;
}

// The time on a clock, so many milliseconds from now.
static inline struct timespec from_now(clockid_t clock, long count) {
    struct timespec time;
    CHECK(clock_gettime(clock, &time) == 0);
    time.tv_sec += count / 1000;
    time.tv_nsec += count % 1000 * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_sec += 1;
        time.tv_nsec -= 1000000000;
    }
    return time;
}

// Whether a time on a clock has come.
static inline int has_come(clockid_t clock, struct timespec time) {
    struct timespec now;
    CHECK(clock_gettime(clock, &now) == 0);
    return now.tv_sec > time.tv_sec || (now.tv_sec == time.tv_sec && now.tv_nsec >= time.tv_nsec);
}

#endif
