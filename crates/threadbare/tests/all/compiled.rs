//! Compiled programs from the command line: how they are built, and one clear message for each thing that cannot work.
//!
//! These need the parts that `make native` builds, and clang 22. Without them the tests fail: `-- --skip compiled::` leaves them out.
#![allow(clippy::unwrap_used, reason = "tests")]

mod build_systems;

use crate::common::Interrupted;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A directory for the test's own files.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn command(directory: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadbare"));
    command.current_dir(directory).args(words).stdin(Stdio::null()).env("COLUMNS", "300");
    command
}

fn threadbare(directory: &Path, words: &[&str]) -> Output {
    command(directory, words).output().unwrap()
}

/// What it says about itself and about the program.
fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// It ends with this status and says this.
#[track_caller]
fn expect(output: &Output, status: i32, says: &str) {
    assert_eq!(output.status.code(), Some(status), "{}", said(output));
    assert!(said(output).contains(says), "{}", said(output));
}

const COUNTER: &str = "#include <pthread.h>\n#include <stdio.h>\nint twice(int);\nint counter;\n\
    static void *worker(void *unused) { counter++; return unused; }\n\
    int main(int count, char **words) {\n  pthread_t threads[2];\n\
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, worker, 0);\n\
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);\n\
    printf(\"%d %d %s\\n\", counter, twice(21), words[count - 1]);\n}\n";

fn write(directory: &Path, name: &str, text: &str) {
    std::fs::write(directory.join(name), text).unwrap();
}

#[test]
fn programs_are_built_as_build_systems_do_it() {
    let directory = directory();
    let directory = directory.path();
    write(directory, "main.c", COUNTER);
    write(directory, "twice.c", "int twice(int x) { return 2 * x; }\n");
    write(directory, "words", "-O2 main.c\n'twice.c' -o by_words");
    let builds: [&[&[&str]]; 5] = [
        &[&["cc", "-O3", "-std=c17", "-Wall", "main.c", "twice.c", "-o", "at_once"]],
        &[
            &["cc", "-c", "-O0", "main.c", "-o", "main.o"],
            &["cc", "-c", "twice.c", "-o", "twice.o"],
            &["cc", "main.o", "twice.o", "-o", "by_objects"],
        ],
        &[
            &["cc", "-shared", "-fPIC", "twice.c", "-o", "libtwice.so"],
            &["cc", "main.c", "-L.", "-ltwice", "-Wl,-rpath,$ORIGIN", "-o", "by_library"],
        ],
        &[&["cc", "@words"]],
        &[&["cc", "-c", "twice.c", "-o", "twice.o"], &["cc", "main.c", "libtwice.a", "-o", "by_archive"]],
    ];
    for build in builds {
        for words in build {
            let built = threadbare(directory, words);
            if words.contains(&"twice.o") {
                let _ =
                    Command::new("ar").current_dir(directory).args(["rcs", "libtwice.a", "twice.o"]).status();
            }
            assert!(built.status.success(), "{words:?}: {}", said(&built));
        }
    }
    for program in ["at_once", "by_objects", "by_library", "by_words", "by_archive"] {
        let run = threadbare(directory, &["record", "--self-check", program, "--", "last"]);
        expect(&run, 0, "a second run under the same strategy is identical");
        assert_eq!(String::from_utf8_lossy(&run.stdout), "2 42 last\n", "{program}");
    }
    let run = threadbare(directory, &["record", "main.c", "twice.c", "--", "on the fly"]);
    assert_eq!(String::from_utf8_lossy(&run.stdout), "2 42 on the fly\n", "{}", said(&run));
}

#[test]
fn what_is_no_program_of_ours_is_refused_with_what_to_do() {
    let directory = directory();
    let directory = directory.path();
    write(directory, "main.c", "int main(void) { return 0; }\n");
    let compiler = native::clang().unwrap();
    let plain = Command::new(compiler).current_dir(directory).args(["main.c", "-o", "plain"]).status();
    assert!(plain.unwrap().success());
    expect(&threadbare(directory, &["record", "plain"]), 2, "`threadbare cc` or `threadbare c++` builds it");
    expect(&threadbare(directory, &["cc", "-flto", "main.c"]), 2, "-flto cannot be used with Threadbare");
    expect(&threadbare(directory, &["cc", "main.c", "-o", "ours"]), 0, "");
    // A stripped binary has all that is needed.
    let stripped = Command::new("strip").current_dir(directory).arg("ours").status();
    assert!(stripped.unwrap().success());
    expect(&threadbare(directory, &["record", "ours"]), 0, "exited");
    // One of another version: the number of the format stands behind the magic of the record.
    let mut bytes = std::fs::read(directory.join("ours")).unwrap();
    let at = bytes.windows(8).position(|window| window == b"\x7ftb-ir\r\n").unwrap();
    bytes[at + 8] = 99;
    std::fs::write(directory.join("ours"), bytes).unwrap();
    expect(&threadbare(directory, &["record", "ours"]), 2, "another version of Threadbare (format 99");
    // No compiler.
    let mut without = command(directory, &["cc", "main.c"]);
    let without = without.env("PATH", directory).env_remove("THREADBARE_CLANG").output().unwrap();
    expect(&without, 2, "install the Debian packages clang-22");
}

#[test]
fn programs_that_crash_are_shown_with_the_place() {
    let directory = directory();
    let directory = directory.path();
    write(directory, "null.c", "int *nowhere;\nint main(void) { return *nowhere; }\n");
    expect(&threadbare(directory, &["record", "null.c"]), 4, "null.c:2:2");
    write(directory, "zero.c", "int a = 1, b;\nint main(void) { return a / b; }\n");
    expect(&threadbare(directory, &["record", "zero.c"]), 4, "zero.c:2:");
    let text = "#include <assert.h>\nint x;\nint main(void) {\n  assert(x == 1);\n}\n";
    write(directory, "assert.c", text);
    expect(&threadbare(directory, &["record", "assert.c"]), 4, "assert.c:4:3");
    write(
        directory,
        "early.c",
        "int *nowhere;\n__attribute__((constructor)) void f(void) { *nowhere = 1; }\nint main(void) {}\n",
    );
    expect(&threadbare(directory, &["record", "early.c"]), 4, "early.c:2:");
}

#[test]
fn programs_that_need_input_are_told_how_to_get_it() {
    let directory = directory();
    let directory = directory.path();
    let text = "#include <stdio.h>\nint main(void) {\n  char line[80];\n  if (!fgets(line, 80, stdin)) return 1;\n\
        fputs(line, stdout);\n}\n";
    write(directory, "echo.c", text);
    write(directory, "input", "hello\n");
    let none = threadbare(directory, &["record", "--self-check", "echo.c"]);
    expect(&none, 0, "--stdin FILE gives it one each time");
    let given = threadbare(directory, &["record", "--self-check", "--stdin", "input", "echo.c"]);
    assert_eq!((&*given.stdout, said(&given).contains("--stdin")), (&b"hello\n"[..], false));
    // A file can be read again; a program that is run once has what we have.
    for words in [&["record", "--self-check", "echo.c"][..], &["record", "echo.c"]] {
        let mut command = command(directory, words);
        let output = command.stdin(std::fs::File::open(directory.join("input")).unwrap()).output().unwrap();
        assert_eq!(output.stdout, b"hello\n", "{}", said(&output));
    }
}

#[test]
fn programs_that_fork_go_on_and_killed_ones_leave_a_trace() {
    let directory = directory();
    let directory = directory.path();
    let text = "#include <sys/wait.h>\n#include <unistd.h>\nint main(void) {\n  int status;\n\
        if (fork() == 0) _exit(3);\n  wait(&status);\n  return WEXITSTATUS(status) == 3 ? 0 : 1;\n}\n";
    write(directory, "fork.c", text);
    expect(&threadbare(directory, &["record", "--self-check", "fork.c"]), 0, "identical");
    let text = "#include <signal.h>\n#include <unistd.h>\nint g;\nint main(void) {\n  for (int i = 0; i < 500; i++) g++;\n\
        kill(getpid(), SIGKILL);\n}\n";
    write(directory, "killed.c", text);
    expect(&threadbare(directory, &["record", "-o", "killed.trace", "killed.c"]), 4, "ended by a signal");
    let shown = threadbare(directory, &["trace", "show", "--from", "990", "killed.trace"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("write g := 500"), "{shown:?}");
}

#[test]
fn programs_that_take_too_much_are_ended() {
    let directory = directory();
    let directory = directory.path();
    write(directory, "spin.c", "volatile int stop;\nint main(void) { while (!stop) {} }\n");
    let limits = ["record", "--timeout", "1", "--max-log", "1", "spin.c"];
    let ended = threadbare(directory, &limits);
    expect(&ended, 3, "ended after 1 seconds (--timeout)");
    expect(&ended, 3, "the log reached its limit of 1 MiB (--max-log)");
    let text = "#include <stdlib.h>\n#include <string.h>\nint main(void) { for (;;) memset(malloc(1 << 20), 1, 1 << 20); }\n";
    write(directory, "grow.c", text);
    let ended = threadbare(directory, &["record", "--max-memory", "64", "--log", "sync", "grow.c"]);
    expect(&ended, 3, "more than 64 MiB of memory (--max-memory)");
}

#[test]
fn locations_and_threads_have_the_names_of_the_source() {
    let directory = directory();
    let directory = directory.path();
    let text = "#include <pthread.h>\n#include <stdlib.h>\nstruct account { int id; long balance; } acct[5];\n\
        struct node { struct node *next; int value; };\nstatic _Thread_local int mine;\nint counter;\n\
        static struct node *list;\n\
        static void *worker(void *local) {\n  counter++; acct[3].balance += 5; list->next->value++; mine++;\n\
        ((int *)local)[2] = 7;\n  return 0;\n}\n\
        int main(void) {\n  int buffer[4] = {0};\n  pthread_t thread;\n\
        list = malloc(sizeof *list);\n  list->next = calloc(1, sizeof *list);\n\
        pthread_create(&thread, 0, worker, buffer);\n  pthread_join(thread, 0);\n}\n";
    write(directory, "names.c", text);
    expect(&threadbare(directory, &["record", "-o", "names.trace", "names.c"]), 0, "exited");
    let shown = threadbare(directory, &["trace", "show", "names.trace"]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    for name in [
        "write counter := 1",
        "write acct[3].balance := 5",
        "write *node.value (allocated at names.c:17) := 1",
        "write mine of worker (names.c:18) #1 := 1",
        "write buffer[2] of main := 7",
        "fork worker (names.c:18) #1",
    ] {
        assert!(shown.contains(name), "{name}:\n{shown}");
    }
}

#[test]
fn a_plain_copy_of_an_inline_function_is_suspected_where_the_run_went_other_ways() {
    let directory = directory();
    let directory = directory.path();
    let header = "#include <mutex>\nextern int shared;\nextern std::mutex m;\n\
        inline int bump(int n) { for (int i = 0; i < n; i++) if ((shared += i) > 100) shared = 0; return shared; }\n";
    write(directory, "bump.h", header);
    write(
        directory,
        "plain.cc",
        "#include \"bump.h\"\nint shared;\nstd::mutex m;\nint other() { return bump(3); }\n",
    );
    let text = "#include \"bump.h\"\n#include <thread>\nint other();\n\
        void work() { std::lock_guard<std::mutex> guard(m); if (bump(2) > 50) shared--; }\n\
        int main() { std::thread t(work), u(work); t.join(); u.join(); return other() > 0 ? 0 : 1; }\n";
    write(directory, "ours.cc", text);
    let compiler = native::clang().unwrap();
    let words = ["--driver-mode=g++", "-O0", "-c", "plain.cc", "-o", "plain.o"];
    assert!(Command::new(compiler).current_dir(directory).args(words).status().unwrap().success());
    expect(&threadbare(directory, &["c++", "-O0", "plain.o", "ours.cc", "-o", "mixed"]), 0, "");
    expect(&threadbare(directory, &["run", "mixed"]), 2, "Was each of its files built with");
}

const LOST: &str = "#include <assert.h>\n#include <pthread.h>\nint counter;\n\
    static void *worker(void *unused) { counter++; return unused; }\n\
    int main(void) {\n  pthread_t threads[2];\n\
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, worker, 0);\n\
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);\n\
    assert(counter == 2);\n}\n";

#[test]
fn drawn_schedules_show_a_lost_update_and_how_to_see_it_again() {
    let directory = directory();
    let directory = directory.path();
    write(directory, "lost.c", LOST);
    for strategy in ["random", "pct"] {
        let explored = threadbare(directory, &["explore", "--strategy", strategy, "--runs", "60", "lost.c"]);
        let text = String::from_utf8_lossy(&explored.stdout).into_owned();
        assert_eq!(explored.status.code(), Some(1), "{text}{}", said(&explored));
        assert!(text.contains("assertion failed") && text.contains("lost.c:9:"), "{text}");
        let schedule =
            text.split("threadbare replay lost.c '").nth(1).and_then(|rest| rest.split('\'').next());
        let schedule = schedule.unwrap_or_else(|| panic!("no command to see it: {text}"));
        let replayed = threadbare(directory, &["replay", "lost.c", schedule]);
        expect(&replayed, 1, "assertion failed");
    }
    let whole = threadbare(directory, &["explore", "--strategy", "all", "lost.c"]);
    expect(&whole, 2, "for compiled ones there are --strategy dpor, prune, paths, random and pct");
}

#[test]
fn all_schedules_prove_a_compiled_program_safe_or_show_what_is_wrong() {
    let directory = directory();
    let directory = directory.path();
    let locked = LOST.replace("counter++;", "pthread_mutex_lock(&m); counter++; pthread_mutex_unlock(&m);");
    let locked =
        locked.replace("int counter;", "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nint counter;");
    write(directory, "lost.c", LOST);
    write(directory, "locked.c", &locked);
    let explored = |strategy: &str, file: &str| {
        let output = threadbare(directory, &["explore", "--strategy", strategy, "--no-keep", file]);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    for strategy in ["paths", "dpor", "prune"] {
        let (status, text) = explored(strategy, "lost.c");
        assert!(status == Some(1) && text.contains("assertion can fail"), "{strategy}: {text}");
        let (status, text) = explored(strategy, "locked.c");
        assert!(
            status == Some(0) && text.contains("safe: no schedule of this program"),
            "{strategy}: {text}"
        );
    }
    // Two critical sections come in one order or in the other.
    assert!(explored("dpor", "locked.c").1.contains("2 runs; each stands for"));
}

/// Two threads that add to a counter under a lock, so many times.
fn two_adders(times: u32) -> String {
    let text = "#include <pthread.h>\nint counter;\npthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
    static void *add(void *unused) {\n  for (int i = 0; i < TIMES; i++) {\n\
    pthread_mutex_lock(&m); counter++; pthread_mutex_unlock(&m); }\n  return unused; }\n\
    int main(void) {\n  pthread_t one, other;\n\
    pthread_create(&one, 0, add, 0); pthread_create(&other, 0, add, 0);\n\
    pthread_join(one, 0); pthread_join(other, 0);\n  return counter != 2 * TIMES;\n}\n";
    text.replace("TIMES", &times.to_string())
}

#[test]
fn an_exploration_by_many_says_the_same_also_if_it_was_interrupted() {
    let directory = directory();
    let directory = directory.path();
    let explore = |more: &[&str]| {
        let words = ["explore", "--strategy", "dpor", "--only", "assert"];
        threadbare(directory, &[&words[..], more].concat())
    };
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    // In how many orders the lock is taken: 10 over 5, which is done in one go, and 12 over 6.
    for (times, orders) in [(5, 252), (6, 924)] {
        write(directory, "adders.c", &two_adders(times));
        let (one, two) = (explore(&["--workers", "1", "adders.c"]), explore(&["--workers", "2", "adders.c"]));
        assert_eq!(text(&one), text(&two));
        assert!(text(&one).contains(&format!("{orders} runs; each stands for")), "{}", text(&one));
        assert!(text(&one).contains("safe: no schedule"), "{}", text(&one));
        expect(&explore(&["--resume", "adders.c"]), 2, "was interrupted here");
    }
    // Once it has been divided, and a part is done. With 14 over 7 it is far from its end then.
    write(directory, "adders.c", &two_adders(7));
    let words = ["explore", "--strategy", "dpor", "--only", "assert", "adders.c"];
    let a_part_is_done = |said: &str| said.contains(" parts") && !said.contains(", 0 of ");
    let interrupted = Interrupted::when(directory, &words, a_part_is_done);
    assert_eq!(interrupted.status, Some(3), "{}", interrupted.said);
    let states = directory.join(".threadbare/explorations");
    let is_kept = || std::fs::read_dir(&states).is_ok_and(|mut states| states.next().is_some());
    assert!(is_kept(), "{}", interrupted.said);
    let resumed = explore(&["--resume", "--workers", "2", "adders.c"]);
    assert_eq!(text(&resumed), text(&explore(&["adders.c"])), "{}", said(&resumed));
    assert!(!is_kept(), "nothing is left to go on with");
}

#[test]
fn what_no_schedule_decides_is_named_and_nothing_is_called_safe() {
    let directory = directory();
    let directory = directory.path();
    // Each run finds one byte more.
    let text = "#include <fcntl.h>\n#include <pthread.h>\n#include <unistd.h>\nint x;\n\
        static void *worker(void *unused) { x = 1; return unused; }\n\
        int main(void) {\n  int file = open(\"count\", O_CREAT | O_RDWR | O_APPEND, 0600);\n\
        if (write(file, \"x\", 1) != 1) return 2;\n  if (lseek(file, 0, SEEK_END) % 2) x = 5;\n\
        pthread_t t;\n  pthread_create(&t, 0, worker, 0);\n  pthread_join(t, 0);\n  return x == 0;\n}\n";
    write(directory, "outside.c", text);
    let output = threadbare(directory, &["explore", "--strategy", "paths", "--no-keep", "outside.c"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(3), "{text}{}", said(&output));
    assert!(text.contains("incomplete: `lseek` is not part of the program"), "{text}");
    assert!(text.contains("two runs under the same schedule differ") && !text.contains("safe"), "{text}");
}

#[test]
fn a_program_that_fails_in_the_recorded_run_is_a_finding_of_its_own() {
    let directory = directory();
    let directory = directory.path();
    let text = "#include <assert.h>\n#include <pthread.h>\nint x;\nstatic void *worker(void *unused) { x = 1; return unused; }\n\
        int main(void) {\n  pthread_t t;\n  pthread_create(&t, 0, worker, 0);\n  pthread_join(t, 0);\n  assert(x == 2);\n}\n";
    write(directory, "fails.c", text);
    expect(&threadbare(directory, &["run", "fails.c"]), 4, "fails.c:9:3");
    let json = threadbare(directory, &["run", "fails.c", "--format", "json"]);
    assert_eq!(json.status.code(), Some(4), "{}", said(&json));
    let report: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(report["findings"].as_array().map(Vec::len), Some(1), "{report}");
}

#[test]
fn a_source_that_is_named_from_the_root_on_is_shown_from_a_directory_beside_it() {
    let directory = directory();
    let text = "#include <pthread.h>\nint x;\nstatic void *worker(void *unused) { x++; return unused; }\n\
        int main(void) {\n  pthread_t t[2];\n  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0);\n\
        for (int i = 0; i < 2; i++) pthread_join(t[i], 0);\n}\n";
    write(directory.path(), "race.c", text);
    let beside = directory.path().join("beside");
    std::fs::create_dir(&beside).unwrap();
    let path = directory.path().join("race.c");
    let found = threadbare(&beside, &["run", path.to_str().unwrap(), "--only", "race"]);
    expect(&found, 1, "3 | static void *worker(void *unused) { x++; return unused; }");
}

#[test]
fn a_program_that_never_ends_is_ended_and_the_limit_is_told() {
    let directory = directory();
    let directory = directory.path();
    // Waits for nobody, and for a thread that spins.
    let text = "#include <pthread.h>\nvolatile int stop;\nstatic void *worker(void *unused) { while (!stop) {} return unused; }\n\
        int main(void) {\n  pthread_t t;\n  pthread_create(&t, 0, worker, 0);\n  pthread_join(t, 0);\n}\n";
    write(directory, "forever.c", text);
    let ended = threadbare(directory, &["run", "forever.c", "--timeout", "2", "--max-log", "64"]);
    expect(&ended, 3, "ended after 2 seconds (--timeout)");
    let ended = threadbare(directory, &["run", "forever.c", "--budget", "4s", "--max-log", "64"]);
    expect(&ended, 3, "(a share of --budget)");
    expect(&ended, 3, "nothing found");
}

#[test]
fn of_a_program_that_never_ends_the_beginning_is_looked_at() {
    let directory = directory();
    let directory = directory.path();
    // By itself each thread goes on for ever, and in the recorded run the other one has hardly begun.
    let text = "#include <pthread.h>\nint hits;\n\
        static void *serve(void *unused) {\n  for (;;) hits++;\n  return unused;\n}\n\
        int main(void) {\n  pthread_t t[2];\n  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, serve, 0);\n\
        for (int i = 0; i < 2; i++) pthread_join(t[i], 0);\n}\n";
    write(directory, "server.c", text);
    let words = ["run", "server.c", "--budget", "20s", "--only", "race", "--format", "json"];
    let ended = threadbare(directory, &words);
    expect(&ended, 1, "predicted from the beginning of another run");
    let report: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
    // One line races with itself: that is one finding, in however many ways.
    assert_eq!(report["findings"].as_array().map(Vec::len), Some(1), "{report}");
    assert_eq!(report["findings"][0]["confirmed"], true, "{report}");
}

#[test]
fn a_budget_ends_everything_with_an_answer() {
    let directory = directory();
    let directory = directory.path();
    // Its recorded run takes no time, its questions do.
    let text = "#include <assert.h>\n#include <pthread.h>\nunsigned x = 3;\npthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
        static void *worker(void *unused) {\n  for (int i = 0; i < 12; i++) {\n    pthread_mutex_lock(&m);\n    unsigned a = x;\n\
        pthread_mutex_unlock(&m);\n    pthread_mutex_lock(&m);\n    x = a * a * 2654435761u + 12345u;\n    assert(x != 77u);\n\
        pthread_mutex_unlock(&m);\n  }\n  return unused;\n}\n\
        int main(void) {\n  pthread_t t[8];\n  for (int i = 0; i < 8; i++) pthread_create(&t[i], 0, worker, 0);\n\
        for (int i = 0; i < 8; i++) pthread_join(t[i], 0);\n}\n";
    write(directory, "slow.c", text);
    let start = std::time::Instant::now();
    let words = ["run", "slow.c", "--budget", "5s", "--solve-time", "100000", "--only", "assert"];
    let ended = threadbare(directory, &words);
    expect(&ended, 3, "looked at ");
    expect(&ended, 3, "no answer in");
    assert!(start.elapsed().as_secs() < 120, "it took {:?}", start.elapsed());
}

#[test]
fn a_program_that_prints_without_end_does_not_fill_memory_or_the_report() {
    let directory = directory();
    let directory = directory.path();
    let text = "#include <pthread.h>\n#include <stdio.h>\nint x;\nstatic void *worker(void *unused) { x++; return unused; }\n\
        int main(void) {\n  pthread_t t[2];\n  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0);\n\
        for (int i = 0; i < 2; i++) pthread_join(t[i], 0);\n\
        static char line[65536];\n  for (int i = 0; i < 65535; i++) line[i] = 'a';\n  line[65535] = '\\n';\n\
        for (long i = 0; i < 32768; i++) fwrite(line, 1, sizeof line, stdout);\n}\n";
    write(directory, "prints.c", text);
    // Two gigabytes each time: nobody reads them in the recorded run, and of others only so much is kept.
    let mut command =
        command(directory, &["run", "prints.c", "--only", "race", "--format", "text", "--timeout", "60"]);
    let output = command.stdout(Stdio::null()).output().unwrap();
    expect(&output, 1, "data race");
    assert!(output.stderr.len() < 1 << 20, "{}", output.stderr.len());
}

#[test]
fn an_interrupted_run_of_a_program_tells_what_it_has_found() {
    let directory = directory();
    let directory = directory.path();
    let mut text = String::from(
        "#include <assert.h>\n#include <pthread.h>\nunsigned x = 3;\nint y;\npthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n",
    );
    text.push_str(
        "static void *worker(void *unused) {\n  y++;\n  for (int i = 0; i < 20; i++) {\n    pthread_mutex_lock(&m);\n    unsigned a = x;\n\
        pthread_mutex_unlock(&m);\n    pthread_mutex_lock(&m);\n    x = a * a * 2654435761u + 12345u;\n    assert(x != 77u);\n\
        pthread_mutex_unlock(&m);\n  }\n  return unused;\n}\n\
        int main(void) {\n  pthread_t t[8];\n  for (int i = 0; i < 8; i++) pthread_create(&t[i], 0, worker, 0);\n\
        for (int i = 0; i < 8; i++) pthread_join(t[i], 0);\n}\n",
    );
    write(directory, "slow.c", &text);
    let words = ["run", "slow.c", "--solve-time", "100000", "--budget", "200s", "--only", "race,assert"];
    let Interrupted { said, status, .. } =
        Interrupted::when(directory, &words, |said| said.starts_with("predicting: "));
    assert_eq!(status, Some(3), "{said}");
    assert!(said.contains(": interrupted") && said.contains("looked at "), "{said}");
    assert!(directory.join(".threadbare").exists() == said.contains("kept as"), "{said}");
}

#[test]
fn the_readme_shows_what_is_found_in_the_bank_in_c() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let shown = readme.split("$ threadbare run --no-keep examples/bank.c\n").nth(1).unwrap();
    let shown = shown.split("```").next().unwrap();
    let mut run = command(&root, &["run", "--no-keep", "examples/bank.c"]);
    let output = run.env("COLUMNS", "120").output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let printed = format!("{}{}", String::from_utf8_lossy(&output.stdout), said(&output));
    // Which of several schedules is found depends on the solver's version and on the compiler's code.
    let but_schedules = |text: &str| -> Vec<String> {
        let lines = text.trim_end().lines();
        lines.filter(|line| !line.contains("= to see it:")).map(str::to_owned).collect()
    };
    assert_eq!(but_schedules(&printed), but_schedules(shown));
}
