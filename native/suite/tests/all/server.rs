//! Runs that a forked process makes are those that a process of its own would make, and nothing is left of them.

use native::launch::{Input, Options, Output, Starts, Stopped, Unserved};
use native::{Compiled, Recorded};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::path::Path;
use std::time::{Duration, Instant};
use subject::Strategy;
use suite::{Build, Built, Program, build, first_difference, for_each, open, programs};
use trace::{Logging, Outcome};

/// The same, but each run in a process of its own.
fn started_anew(path: &Path) -> Compiled {
    let mut compiled = open(path);
    let options = Options { starts: Starts::Always, ..compiled.options().clone() };
    compiled.set_options(options);
    compiled
}

fn record(compiled: &Compiled, strategy: &Strategy, logging: &Logging) -> Recorded {
    compiled.record(strategy, logging).unwrap_or_else(|error| panic!("{strategy}: {error}"))
}

fn assert_same(one: &Recorded, other: &Recorded, reads_outside: bool, what: &str) {
    let difference = first_difference(&one.run.trace, &other.run.trace, reads_outside);
    assert_eq!(difference, None, "{what}");
    assert_eq!((one.status, one.stopped), (other.status, other.stopped), "{what}");
    if !reads_outside {
        assert_eq!(one.output, other.output, "{what}");
        assert_eq!(one.about, other.about, "{what}");
        assert!(one.log.bytes() == other.log.bytes(), "{what}: the logs differ");
    }
}

fn same_as_processes(program: &Program) {
    let built = build(program, &Build::at("-O1"));
    let (anew, served) = (started_anew(&built.path), open(&built.path));
    // The first run is not served.
    let _ = record(&served, &Strategy::RunToBlock, &Logging::Synchronisation);
    let random = (0..4).map(|seed| Strategy::Random { seed });
    for strategy in [Strategy::RunToBlock].into_iter().chain(random) {
        for logging in [Logging::Everything, Logging::Synchronisation, Logging::Shared] {
            let [one, other] = [&anew, &served].map(|compiled| record(compiled, &strategy, &logging));
            let what = format!("{} {strategy} {logging:?}", program.name());
            assert_same(&one, &other, program.reads_outside, &what);
        }
    }
    match served.unserved() {
        None => {}
        Some(why) => {
            assert_eq!(why, Unserved::Processes, "{}", program.name());
            println!("{}: {why}", program.name());
        }
    }
    assert_eq!(anew.unserved().filter(|why| *why != Unserved::Processes), None);
}

#[test]
fn coverage_runs_the_same() {
    for_each(&programs("coverage"), same_as_processes);
}

#[test]
fn programs_run_the_same() {
    for_each(&programs(""), same_as_processes);
}

#[test]
fn twins_and_findings_run_the_same() {
    for_each(&[programs("twins"), programs("findings")].concat(), same_as_processes);
}

/// A program of this text.
fn built(directory: &Path, name: &str, text: &str) -> Built {
    built_as(directory, name, text, &Build::at("-O1"))
}

fn built_as(directory: &Path, name: &str, text: &str, how: &Build) -> Built {
    let path = directory.join(format!("{name}.c"));
    std::fs::write(&path, text).expect("a directory of our own");
    let program = Program::in_c(path);
    build(&program, how)
}

/// The same, with its first run behind it: that one is not served.
fn known(directory: &Path, name: &str, text: &str) -> (Built, Compiled) {
    let built = built(directory, name, text);
    let compiled = open(&built.path);
    let _ = compiled.record(&Strategy::RunToBlock, &Logging::Synchronisation);
    (built, compiled)
}

/// The processes whose program is this file, with the process that each was started by.
fn processes_of(built: &Built) -> Vec<(i32, i32)> {
    let mut found = vec![];
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        if std::fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == built.path) {
            let status = std::fs::read_to_string(entry.path().join("status")).unwrap_or_default();
            let parent = status.lines().find_map(|line| line.strip_prefix("PPid:\t")).unwrap_or("0");
            found.push((process, parent.parse().expect("a number")));
        }
    }
    found
}

/// Waits until it is so.
fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_run_that_never_ends_is_ended_and_others_follow() {
    let directory = tempfile::tempdir().expect("a directory");
    let text = "#include <stdlib.h>\n#include <stdio.h>\nint __VERIFIER_nondet_int(void);\n\
        int main(void) { puts(\"begun\"); fflush(stdout); volatile int x = __VERIFIER_nondet_int();\n\
        unsigned h = 1; while (x) { for (int i = 0; i < 10000000; i++) h = h * 31 + (h >> 7); x = h | 1; }\n\
        puts(\"over\"); return 0; }\n";
    // It takes long from one event to the next, so that the log stays short.
    let (built, mut compiled) = known(directory.path(), "sometimes_endless", text);
    let options = compiled.options().clone();
    for _ in 0..3 {
        let timeout = Some(Duration::from_secs(1));
        let most_events = u64::MAX;
        compiled.set_options(Options { inputs: vec![1], timeout, most_events, ..options.clone() });
        let stopped = record(&compiled, &Strategy::RunToBlock, &Logging::Everything);
        assert_eq!(stopped.stopped, Some(Stopped::Timeout));
        assert_eq!(stopped.output.as_ref().map(|(out, _)| &out[..]), Some(&b"begun\n"[..]));
        // What it had done is known.
        assert!(!stopped.run.trace.events.is_empty());
        compiled.set_options(Options { inputs: vec![0], ..options.clone() });
        let over = record(&compiled, &Strategy::RunToBlock, &Logging::Everything);
        assert_eq!((over.stopped, over.status.code()), (None, Some(0)));
        assert_eq!(over.output.as_ref().map(|(out, _)| &out[..]), Some(&b"begun\nover\n"[..]));
    }
    assert_eq!(compiled.unserved(), None);
    assert_eq!(processes_of(&built).len(), 1, "the server, and no run");
    drop(compiled);
    assert_eq!(processes_of(&built), [], "no process is left");
}

#[test]
fn too_much_memory_and_too_much_output_end_a_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let text = "#include <stdlib.h>\n#include <string.h>\n#include <stdio.h>\nint __VERIFIER_nondet_int(void);\n\
        int main(void) { int what = __VERIFIER_nondet_int(); for (;;) { if (what == 1) { char *p = malloc(1 << 20); memset(p, 1, 1 << 20); }\n\
        else if (what == 2) puts(\"a rather long line that is written again and again and again and again\"); else return 0; } }\n";
    let (_built, mut compiled) = known(directory.path(), "greedy", text);
    let options = Options { most_memory: Some(64 << 20), ..compiled.options().clone() };
    for (input, expected) in [(1, Some(Stopped::Memory)), (2, Some(Stopped::Output)), (0, None)] {
        compiled.set_options(Options { inputs: vec![input], ..options.clone() });
        let run = record(&compiled, &Strategy::RunToBlock, &Logging::Synchronisation);
        assert_eq!(run.stopped, expected, "input {input}");
    }
    assert_eq!(compiled.unserved(), None);
}

#[test]
fn a_crash_ends_the_run_and_not_the_server() {
    let directory = tempfile::tempdir().expect("a directory");
    let text = "#include <stdlib.h>\n#include <signal.h>\nint __VERIFIER_nondet_int(void);\n\
        int main(void) { int what = __VERIFIER_nondet_int(); volatile int *p = 0;\n\
        if (what == 1) *p = 1; if (what == 2) abort(); if (what == 3) exit(7); if (what == 4) raise(SIGKILL); return 0; }\n";
    let (built, mut served) = known(directory.path(), "crashes", text);
    let mut anew = started_anew(&built.path);
    for what in [1, 2, 3, 4, 0, 1] {
        for compiled in [&mut served, &mut anew] {
            let options = Options { inputs: vec![what], ..compiled.options().clone() };
            compiled.set_options(options);
        }
        let [one, other] =
            [&anew, &served].map(|compiled| record(compiled, &Strategy::RunToBlock, &Logging::Everything));
        assert_same(&one, &other, false, &format!("case {what}"));
    }
    assert_eq!(served.unserved(), None);
}

#[test]
fn a_deadlock_is_one() {
    let all = programs("findings");
    let lock_order = all.iter().find(|program| program.name() == "lock_order.c").expect("the program");
    let built = build(lock_order, &Build::at("-O1"));
    let compiled = open(&built.path);
    let ends: Vec<bool> = (0..40)
        .map(|seed| {
            record(&compiled, &Strategy::Random { seed }, &Logging::Synchronisation).run.trace.outcome
        })
        .map(|outcome| matches!(outcome, Outcome::Deadlock { .. }))
        .collect();
    assert!(ends[1..].contains(&true) && ends[1..].contains(&false), "{ends:?}");
    assert_eq!(compiled.unserved(), None);
}

#[test]
fn a_killed_server_is_replaced() {
    let directory = tempfile::tempdir().expect("a directory");
    let (built, compiled) = known(directory.path(), "plain", "int main(void) { return 5; }\n");
    let run = || record(&compiled, &Strategy::RunToBlock, &Logging::Everything);
    let first = run();
    for _ in 0..2 {
        let [(server, _)] = processes_of(&built)[..] else { panic!("one server") };
        kill(Pid::from_raw(server), Signal::SIGKILL).expect("it is ours");
        // By a process of its own, and then by another server.
        for _ in 0..2 {
            let again = run();
            assert_same(&first, &again, false, "after the server was killed");
        }
        assert_eq!(compiled.unserved(), None);
    }
    let [(server, _)] = processes_of(&built)[..] else { panic!("one server") };
    kill(Pid::from_raw(server), Signal::SIGKILL).expect("it is ours");
    assert_eq!(run().status.code(), Some(5));
    // It happens too often to be an accident.
    assert!(matches!(compiled.unserved(), Some(Unserved::Failed(_))), "{:?}", compiled.unserved());
    assert_eq!(run().status.code(), Some(5));
}

const ENDLESS: &str =
    "int main(int c, char **v) { (void)v; volatile int x = 1; while (c > 0 && x) ; return 0; }\n";

/// Runs a program that does not end: first for a short time, then by a server.
fn run_endless(path: &Path, second: Duration) -> Recorded {
    let mut compiled = open(path);
    let mut run = |timeout| {
        let options = compiled.options().clone();
        compiled.set_options(Options { timeout: Some(timeout), most_events: u64::MAX, ..options });
        record(&compiled, &Strategy::RunToBlock, &Logging::Synchronisation)
    };
    let _ = run(Duration::from_millis(500));
    run(second)
}

/// The server of an endless run and the run, once both are there.
fn server_and_run(built: &Built, owner: u32) -> (i32, i32) {
    let owner = i32::try_from(owner).expect("a small number");
    let find = || {
        let all = processes_of(built);
        let &(server, _) = all.iter().find(|(_, parent)| *parent == owner)?;
        let &(run, _) = all.iter().find(|(_, parent)| *parent == server)?;
        Some((server, run))
    };
    eventually("a server and its run", || find().is_some());
    find().expect("they were there just now")
}

#[test]
fn a_run_under_way_ends_with_its_server() {
    let directory = tempfile::tempdir().expect("a directory");
    let built = built(directory.path(), "endless", ENDLESS);
    std::thread::scope(|scope| {
        let run = scope.spawn(|| run_endless(&built.path, Duration::from_secs(5)));
        let (server, child) = server_and_run(&built, std::process::id());
        kill(Pid::from_raw(server), Signal::SIGKILL).expect("it is ours");
        eventually("the run ends with its server", || {
            processes_of(&built).iter().all(|&(process, _)| process != child)
        });
        // The run is made anew in a process of its own.
        assert_eq!(run.join().expect("no panic").stopped, Some(Stopped::Timeout));
    });
}

/// Names the program for the process that is to be killed.
const OWNED: &str = "THREADBARE_OWNED_PROGRAM";

#[test]
fn a_server_and_its_run_end_with_their_owner() {
    if let Some(path) = std::env::var_os(OWNED) {
        let _ = run_endless(Path::new(&path), Duration::from_secs(60));
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let built = built(directory.path(), "owned", ENDLESS);
    let mut owner = std::process::Command::new(std::env::current_exe().expect("a path"))
        .args(["--exact", "server::a_server_and_its_run_end_with_their_owner"])
        .env(OWNED, &built.path)
        .spawn()
        .expect("this test runs");
    let _ = server_and_run(&built, owner.id());
    owner.kill().expect("it is ours");
    owner.wait().expect("it was ours");
    eventually("both end with their owner", || processes_of(&built).is_empty());
}

#[test]
fn input_is_read_from_its_beginning_by_each_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let input = directory.path().join("input");
    std::fs::write(&input, "some words\n").expect("a directory of our own");
    let text = "#include <stdio.h>\n#include <fcntl.h>\n#include <unistd.h>\n\
        int main(void) { char line[64]; fcntl(0, F_SETFL, O_NONBLOCK); fcntl(1, F_SETFL, O_APPEND);\n\
        printf(\"%d \", fcntl(0, F_GETFL) & O_NONBLOCK); if (fgets(line, 64, stdin)) fputs(line, stdout); return 0; }\n";
    let (_built, mut compiled) = known(directory.path(), "echo", text);
    let options =
        Options { input: Input::File(input), output: Output::Captured, ..compiled.options().clone() };
    compiled.set_options(options);
    for _ in 0..4 {
        let run = record(&compiled, &Strategy::RunToBlock, &Logging::Synchronisation);
        assert_eq!(
            run.output.map(|(out, _)| String::from_utf8_lossy(&out).into_owned()).as_deref(),
            Some("2048 some words\n")
        );
    }
    assert_eq!(compiled.unserved(), None);
}

#[test]
fn threads_that_are_there_before_are_a_reason() {
    let directory = tempfile::tempdir().expect("a directory");
    // What stands in this section runs before the constructors of all libraries, the runtime's too; so it is not instrumented.
    let text = "#include <pthread.h>\n#include <unistd.h>\nstatic void *wait_on(void *n) { for (;;) pause(); return n; }\n\
        static void begin(void) { pthread_t t; pthread_create(&t, 0, wait_on, 0); }\n\
        __attribute__((section(\".preinit_array\"), used)) static void (*const early)(void) = begin;\n";
    let (source, object) = (directory.path().join("early.c"), directory.path().join("early.o"));
    std::fs::write(&source, text).expect("a directory of our own");
    let clang = std::process::Command::new(native::clang().expect("clang"))
        .args(["-c", "-fPIC", "-pthread", "-o"])
        .args([&object, &source])
        .status();
    assert!(clang.expect("clang runs").success());
    let how = Build { flags: vec![object.into_os_string()], ..Build::at("-O1") };
    let built = built_as(directory.path(), "plain", "int main(void) { return 0; }\n", &how);
    let compiled = open(&built.path);
    for _ in 0..3 {
        let run = record(&compiled, &Strategy::RunToBlock, &Logging::Synchronisation);
        assert_eq!(run.status.code(), Some(0));
    }
    assert_eq!(compiled.unserved(), Some(Unserved::Threads));
}
