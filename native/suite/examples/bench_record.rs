//! What recording costs: `make bench-record`.
//!
//! Each program of `bench/` is built and run plain, with ThreadSanitizer, under helgrind, and with Threadbare: recording (schedule,
//! inputs, synchronisation, sharedness), with a full log in memory, and with a full log on disk. All on one processor, one after
//! the other. Printed are wall time, the processor's time (which other work on the machine disturbs less) and peak memory as ratios to
//! plain, the median of several runs; a log in memory is part of that memory. Then what a hand-over costs, and a run of 10⁹
//! accesses of which a window is made anew. Words on the command line choose programs by their names.

use native::launch::{Asked, Input, Options, Output, run};
use native::{Compiled, Recorded};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::resource::{UsageWho, getrusage};
use nix::unistd::Pid;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use subject::Strategy;
use suite::{Build, Built, Program, build, c_files, directory, plain};
use trace::Logging;

/// The programs of the table.
const PROGRAMS: [&str; 6] = ["locks", "atomics", "compute", "pointers", "allocations", "compression"];

/// Runs of each variant, of which the median counts. Helgrind is slow and steady: one.
const RUNS: usize = 3;

/// Helgrind is ended after so many seconds: more of them change nothing about what there is to say.
const MOST_SECONDS: &str = "100";

/// How `timeout` says that it ended a program.
const ENDED: i32 = 124;

/// The columns besides plain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Variant {
    Plain,
    Tsan,
    Helgrind,
    Recording,
    LogInMemory,
    LogOnDisk,
}

const VARIANTS: [(Variant, &str); 6] = [
    (Variant::Plain, "plain"),
    (Variant::Tsan, "tsan"),
    (Variant::Helgrind, "helgrind"),
    (Variant::Recording, "recording"),
    (Variant::LogInMemory, "log-in-memory"),
    (Variant::LogOnDisk, "log-on-disk"),
];

/// One run: wall time and the processor's in seconds, peak memory in KiB, bytes of its log.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
struct Cost {
    seconds: f64,
    processor: f64,
    kibibytes: i64,
    log_bytes: u64,
    end: End,
}

/// How a run came to its end.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
enum End {
    /// By itself.
    Done,
    /// It would have taken longer.
    Late,
    /// It did not do under helgrind what it does without.
    Failed,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some("--one") => return one(&words[1], Path::new(&words[2])),
        Some("--bench") | None => {}
        Some(_) => {}
    }
    pin();
    let chosen = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    println!(
        "| program | plain | ThreadSanitizer | helgrind | recording | full log in memory | full log on disk | events | bytes/event on disk |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for name in PROGRAMS.into_iter().filter(|name| chosen(name)) {
        table_row(name);
    }
    if chosen("hand_over") {
        hand_over();
    }
    if chosen("long_run") {
        long_run();
    }
}

fn program(name: &str) -> (Program, Vec<OsString>) {
    let path = directory().join("bench").join(format!("{name}.c"));
    let program = Program::in_c(path);
    let mut flags = vec![];
    if name == "compression" {
        let zstd = suite::zstd();
        flags.extend(["-w", "-DZSTD_MULTITHREAD", "-DZSTD_DISABLE_ASM", "-I"].map(OsString::from));
        flags.push(zstd.clone().into());
        let parts = ["common", "compress", "decompress"];
        flags.extend(parts.iter().flat_map(|part| c_files(&zstd.join(part))).map(OsString::from));
    }
    (program, flags)
}

fn how(flags: &[OsString], more: &[&str]) -> Build {
    let flags = more.iter().map(OsString::from).chain(flags.iter().cloned()).collect();
    Build { flags, ..Build::at("-O2") }
}

fn table_row(name: &str) {
    let (program, flags) = program(name);
    let plainly = plain(&program, &how(&flags, &[]));
    let tsan = plain(&program, &how(&flags, &["-fsanitize=thread"]));
    let ours = build(&program, &how(&flags, &[]));
    let events = recorded(&ours.path, &Strategy::RunToBlock, &Logging::Synchronisation).about.events;
    let mut cells = vec![];
    let mut base = None;
    let mut on_disk = String::from("—");
    for (variant, word) in VARIANTS {
        let path = match variant {
            Variant::Plain | Variant::Helgrind => &plainly.path,
            Variant::Tsan => &tsan.path,
            _ => &ours.path,
        };
        if variant == Variant::Helgrind && !is_installed("valgrind") {
            cells.push("not installed".to_owned());
            continue;
        }
        let cost = measure(word, path, if variant == Variant::Helgrind { 1 } else { RUNS });
        if cost.end == End::Failed {
            cells.push("fails".to_owned());
            continue;
        }
        let base = *base.get_or_insert(cost);
        cells.push(match variant {
            Variant::Plain => {
                format!("{:.2} s, CPU {:.2} s, {} MiB", cost.seconds, cost.processor, cost.kibibytes >> 10)
            }
            _ => format!(
                "{}{:.2} × time, {:.2} × CPU, {:.2} × memory",
                if cost.end == End::Late { "more than " } else { "" },
                cost.seconds / base.seconds,
                cost.processor / base.processor,
                cost.kibibytes as f64 / base.kibibytes as f64
            ),
        });
        if variant == Variant::LogOnDisk {
            on_disk = format!("{:.1}", cost.log_bytes as f64 / events as f64);
        }
    }
    println!("| {name} | {} | {events} | {on_disk} |", cells.join(" | "));
}

fn is_installed(tool: &str) -> bool {
    Command::new(tool).arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// The median of several runs, each in a process of its own: the system tells the peak memory of all children together.
fn measure(variant: &str, path: &Path, runs: usize) -> Cost {
    let mut costs: Vec<Cost> = (0..runs)
        .map(|_| {
            let itself = std::env::current_exe().expect("this program");
            let output = Command::new(itself).args(["--one", variant]).arg(path).output().expect("it runs");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let mut numbers = text.split_whitespace();
            let mut next =
                || numbers.next().unwrap_or_else(|| panic!("{variant} {}: {output:?}", path.display()));
            Cost {
                seconds: next().parse().expect("seconds"),
                processor: next().parse().expect("seconds"),
                kibibytes: next().parse().expect("kibibytes"),
                log_bytes: next().parse().expect("bytes"),
                end: match next() {
                    "Done" => End::Done,
                    "Late" => End::Late,
                    _ => End::Failed,
                },
            }
        })
        .collect();
    costs.sort_by(|a, b| a.processor.total_cmp(&b.processor));
    costs[costs.len() / 2]
}

/// Runs a program once, and prints what it cost.
fn one(variant: &str, path: &Path) {
    pin();
    let (variant, _) = VARIANTS.into_iter().find(|(_, word)| *word == variant).expect("a variant");
    let start = Instant::now();
    let (mut log_bytes, mut end) = (0, End::Done);
    match variant {
        Variant::Plain | Variant::Tsan => {
            let status = Command::new(path).stdout(Stdio::null()).status().expect("it runs");
            assert!(status.success(), "{status}");
        }
        Variant::Helgrind => {
            let mut command = Command::new("timeout");
            command
                .args([MOST_SECONDS, "valgrind", "--tool=helgrind", "--fair-sched=try", "--quiet"])
                .arg(path);
            let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("it runs");
            end = match status.code() {
                Some(0) => End::Done,
                Some(ENDED) => End::Late,
                _ => End::Failed,
            };
        }
        Variant::Recording | Variant::LogInMemory | Variant::LogOnDisk => {
            let logging = match variant {
                Variant::Recording => abi::plan::Logging::Sharedness,
                _ => abi::plan::Logging::Everything,
            };
            // A log that may grow beyond what there is in memory goes to disk.
            let most_log_bytes = if variant == Variant::LogOnDisk { 1 << 40 } else { memory_for_a_log() };
            let options = Options { most_log_bytes, ..quiet() };
            let finished =
                run(path, &options, Asked { strategy: Strategy::RunToBlock, logging, modules: vec![] })
                    .expect("it runs");
            assert!(finished.status.success(), "{}", finished.status);
            log_bytes = finished.log.bytes().len();
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the system tells");
    let [user, system] = [usage.user_time(), usage.system_time()]
        .map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6);
    let in_memory = if variant == Variant::LogInMemory { log_bytes as i64 >> 10 } else { 0 };
    println!("{seconds} {} {} {log_bytes} {end:?}", user + system, usage.max_rss() + in_memory);
}

/// The room in the directory that is in memory. Most of it stays free, because logs are packed.
fn memory_for_a_log() -> u64 {
    nix::sys::statvfs::statvfs("/dev/shm").map_or(0, |room| room.blocks_available() * room.fragment_size())
}

fn quiet() -> Options {
    Options { input: Input::Nothing, output: Output::Discarded, ..Options::default() }
}

fn recorded(path: &Path, strategy: &Strategy, logging: &Logging) -> Recorded {
    let compiled = Compiled::open(path, quiet()).expect("a program of ours");
    compiled.record(strategy, logging).expect("it runs")
}

fn built(name: &str) -> Built {
    let (program, flags) = program(name);
    build(&program, &how(&flags, &[]))
}

fn hand_over() {
    let built = built("hand_over");
    let start = Instant::now();
    let recorded = recorded(&built.path, &Strategy::RunToBlock, &Logging::Synchronisation);
    let microseconds = start.elapsed().as_secs_f64() * 1e6;
    let count = recorded.about.hand_overs;
    println!(
        "\nA hand-over: {:.2} µs ({count} of them, reading the log included)",
        microseconds / count as f64
    );
}

/// A long run is recorded, and a window in its middle made anew by following its schedule.
fn long_run() {
    let built = built("long_run");
    let start = Instant::now();
    let first = recorded(&built.path, &Strategy::RunToBlock, &Logging::Synchronisation);
    let recording = start.elapsed().as_secs_f64();
    let events = first.about.events;
    let schedule = first.run.trace.schedule();
    let (from, to) = (events / 2, events / 2 + 1_000_000);
    let start = Instant::now();
    let again = recorded(&built.path, &Strategy::follow(schedule), &Logging::Window { from, to });
    let window = again.run.trace.events.iter().filter(|event| !event.kind.is_synchronisation()).count();
    println!(
        "\n{events} events recorded in {recording:.1} s (log of {} bytes); a window with {window} of them made anew in {:.1} s",
        first.log.bytes().len(),
        start.elapsed().as_secs_f64()
    );
    assert_eq!(again.run.departure, None);
}

/// This process, and those that it starts, stay on one processor.
fn pin() {
    let mut set = CpuSet::new();
    set.set(0).expect("there is a first one");
    sched_setaffinity(Pid::from_raw(0), &set).expect("the system lets it");
}
