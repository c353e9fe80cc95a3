//! A turn ends before the same event whatever is kept of the run: otherwise a log that is made anew would be one of another run.

use subject::Strategy;
use suite::{Build, Program, build, open};
use trace::Logging;

/// Two threads that never wait for each other, so that each is interrupted. Where copies and allocations are not kept they are counted by the
/// runtime, which empties the buffer in the middle of a turn.
const COPIES: &str = "#include <pthread.h>
#include <stdlib.h>
#include <string.h>
struct { long words[3]; } from[8], to[8];
static void *copy(void *which) {
    size_t at = (size_t)which;
    for (size_t i = 0; i < 60000; i++) {
        memcpy(&to[(i + at) % 8], &from[i % 8], sizeof to[0]);
        char **block = malloc(sizeof *block);
        *block = (char *)block;
        from[i % 8].words[at] += *block != 0;
        free(block);
    }
    return 0;
}
int main(void) {
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, copy, (void *)i);
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
}
";

#[test]
fn turns_end_at_the_same_events_whatever_is_kept() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("copies.c");
    std::fs::write(&path, COPIES).expect("it can be written");
    let program = Program::in_c(path);
    let built = build(&program, &Build::at("-O1"));
    let compiled = open(&built.path);
    for strategy in [Strategy::RunToBlock, Strategy::RoundRobin { quantum: 5001 }] {
        let switches = |logging: &Logging| {
            let trace = compiled.record(&strategy, logging).expect("it runs").run.trace;
            let segments = trace.schedule().segments;
            segments.into_iter().map(|segment| (segment.thread, segment.until)).collect::<Vec<_>>()
        };
        let everything = switches(&Logging::Everything);
        assert!(everything.len() > 4, "nobody is interrupted");
        for logging in [Logging::Synchronisation, Logging::Window { from: 1000, to: 2000 }] {
            assert_eq!(switches(&logging), everything, "{strategy}, {logging:?}");
        }
    }
}
