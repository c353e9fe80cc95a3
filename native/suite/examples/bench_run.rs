//! The whole way on compiled programs: `make bench-run`.
//!
//! The table of AV (Table 1) for compiled programs: each is recorded once, predicted from, and what is found is run again. Beside it stands
//! what ThreadSanitizer and helgrind report of the same programs in one run and in a hundred. Then a program of some thousand lines with a
//! trace of more than a million events goes the whole way, and what it took is measured. Words on the command line choose rows by their names;
//! `--alone` leaves the detectors out.

use claim::{Property, Standing};
use native::Compiled;
use predict::{Normal, Options, Prediction, predict_and_confirm};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use subject::Strategy;
use suite::{Build, Program, build, directory, open, plain, programs};
use trace::{Logging, Trace};

/// The rows: a program; of the bank, how many clerks there are and how many transfers each of them makes.
const ROWS: [(&str, Option<[u32; 2]>); 25] = [
    ("bank-av", Some([2, 1])),
    ("bank-av", Some([4, 1])),
    ("bank-av", Some([8, 1])),
    ("bank-sav", Some([2, 1])),
    ("bank-sav", Some([4, 1])),
    ("bank-sav", Some([8, 1])),
    ("bank-nav", Some([2, 1])),
    ("bank-nav", Some([4, 1])),
    ("bank-nav", Some([8, 1])),
    ("bank-av", Some([4, 3])),
    ("bank-sav", Some([4, 3])),
    ("bank-nav", Some([4, 3])),
    ("bank-nav", Some([8, 3])),
    ("atom001", None),
    ("atom001a", None),
    ("atom002", None),
    ("atom002a", None),
    ("dynRec", None),
    ("fa02", None),
    ("pBch4", None),
    ("pBch4ok", None),
    ("findings/hidden_race", None),
    ("findings/narrow_window", None),
    ("findings/lock_order", None),
    ("findings/wait_if", None),
];

/// A row gets so much time for its questions.
const MOST_TIME: Duration = Duration::from_secs(60);

/// One question gets so much: a hard one is not to use up the time of all.
const MOST_TIME_OF_ONE: Duration = Duration::from_secs(2);

/// A run under a detector gets so many seconds.
const MOST_SECONDS_OF_A_RUN: &str = "10";

/// Runs of a detector get so much time together.
const MOST_TIME_OF_OTHERS: Duration = Duration::from_secs(60);

fn main() {
    let (options, words): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let alone = options.iter().any(|option| option == "--alone");
    let chosen = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    println!(
        "| program | thrds | svars | simplify/original | regions | orig-pavs | hb-pavs | sym-avs | w/o data pavs | sym-time | total | \
         findings | confirmed | ThreadSanitizer 1 / 100 runs | helgrind 1 / 100 runs |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (name, size) in ROWS {
        let label = match size {
            None => name.to_owned(),
            Some([clerks, 1]) => format!("{name}-{clerks}"),
            Some([clerks, transfers]) => format!("{name}-{clerks}, {transfers} transfers each"),
        };
        if chosen(&label) {
            row(&label, name, size, alone);
        }
    }
    if chosen("archiver") {
        archiver();
    }
}

fn program(name: &str) -> Program {
    let (below, file) = name.rsplit_once('/').unwrap_or(("", name));
    let found = programs(below).into_iter().find(|program| program.name() == format!("{file}.c"));
    found.unwrap_or_else(|| panic!("no program {name}"))
}

fn row(label: &str, name: &str, size: Option<[u32; 2]>, alone: bool) {
    let program = program(name);
    let sized = |[clerks, transfers]: [u32; 2]| {
        [format!("-DTHREADS={clerks}").into(), format!("-DROUNDS={transfers}").into()]
    };
    let flags: Vec<OsString> = size.map(sized).into_iter().flatten().collect();
    let how = |more: &[&str]| Build {
        flags: flags.iter().cloned().chain(more.iter().map(OsString::from)).collect(),
        ..Build::at("-O1")
    };
    let ours = build(&program, &how(&[]));
    let start = Instant::now();
    let compiled = open(&ours.path);
    let (prediction, _) = whole_way(&compiled, MOST_TIME);
    let total = start.elapsed();
    let statistics = &prediction.statistics;
    let told: Vec<_> =
        prediction.findings.iter().filter(|one| !one.is_inferred() || one.consequence.is_visible()).collect();
    let confirmed = told.iter().filter(|finding| finding.standing == Standing::Confirmed).count();
    let open = if statistics.unknown > 0 { format!(" ({} open)", statistics.unknown) } else { String::new() };
    let beside = |flags: &[&str], run: fn(&Path) -> Option<BTreeSet<String>>| match alone {
        true => "–".to_owned(),
        false => {
            let built = plain(&program, &how(flags));
            others(&mut || run(&built.path))
        }
    };
    println!(
        "| {label} | {} | {} | {}/{} | {} | {} | {} | {}{open} | {} | {:.2} s | {:.2} s | {} | {confirmed} | {} | {} |",
        statistics.threads,
        statistics.shared_locations,
        statistics.simplified,
        statistics.events,
        statistics.transactions,
        statistics.potential,
        statistics.after_happens_before,
        statistics.feasible,
        statistics.without_data,
        (statistics.times.encode + statistics.times.solve).as_secs_f64(),
        total.as_secs_f64(),
        told.len(),
        beside(&["-fsanitize=thread"], thread_sanitizer),
        beside(&[], helgrind),
    );
}

/// One recorded run, what it shows of others, and re-runs.
fn whole_way(compiled: &Compiled, time: Duration) -> (Prediction, Trace) {
    let recorded = compiled.record(&Strategy::RunToBlock, &Logging::Everything).expect("it runs");
    let trace = recorded.run.trace;
    let normal = Normal::of(compiled, &trace, 4, None).expect("it runs");
    let mut options = Options::default();
    options.engine.total_time = Some(time);
    options.engine.limits.time = Some(MOST_TIME_OF_ONE);
    let found = predict_and_confirm(compiled, &trace, &options, &normal, &mut |_| {});
    (found.expect("a prediction"), trace)
}

/// How many different reports a detector gives in one run, and in a hundred or as many as the time allows.
fn others(run: &mut dyn FnMut() -> Option<BTreeSet<String>>) -> String {
    let start = Instant::now();
    let Some(mut reports) = run() else { return "not installed".to_owned() };
    let first = reports.len();
    let mut runs = 1;
    while runs < 100 && start.elapsed() < MOST_TIME_OF_OTHERS {
        reports.extend(run().unwrap_or_default());
        runs += 1;
    }
    let only = if runs < 100 { format!(" (in {runs} runs)") } else { String::new() };
    format!("{first} / {}{only}", reports.len())
}

/// A command that ends what it is given: programs that can deadlock do so under detectors too.
fn limited() -> Command {
    let mut command = Command::new("timeout");
    command.arg(MOST_SECONDS_OF_A_RUN);
    command
}

/// The summaries of ThreadSanitizer's reports, with the places.
fn thread_sanitizer(path: &Path) -> Option<BTreeSet<String>> {
    let mut command = limited();
    let output = command.arg(path).env("TSAN_OPTIONS", "exitcode=0").stdout(Stdio::null()).output().ok()?;
    Some(lines(&output.stderr, "SUMMARY: ThreadSanitizer"))
}

/// Helgrind's reports: their first lines and the places below them.
fn helgrind(path: &Path) -> Option<BTreeSet<String>> {
    let mut command = limited();
    command.args(["valgrind", "--tool=helgrind", "--quiet", "--log-fd=2"]).arg(path);
    // Where there is no valgrind, `timeout` says 127.
    let output =
        command.stdout(Stdio::null()).output().ok().filter(|output| output.status.code() != Some(127))?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let words: Vec<&str> =
        text.lines().filter_map(|line| line.split_once("== ").map(|(_, text)| text)).collect();
    let is_report = |line: &str| line.starts_with("Possible data race") || line.contains("lock order");
    let reports = words.iter().enumerate().filter(|(_, line)| is_report(line));
    Some(
        reports
            .map(|(at, line)| {
                let place = words[at..].iter().find_map(|line| line.rsplit_once('('));
                let kind: String = line.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
                format!("{kind} {}", place.map_or("", |(_, place)| place))
            })
            .collect(),
    )
}

fn lines(bytes: &[u8], with: &str) -> BTreeSet<String> {
    String::from_utf8_lossy(bytes).lines().filter(|line| line.contains(with)).map(str::to_owned).collect()
}

/// A program of some thousand lines, most of which nobody here wrote, from end to end.
fn archiver() {
    let program = Program::in_c(directory().join("bench/archiver.c"));
    let bzip2 = suite::bzip2();
    let parts = ["blocksort", "huffman", "crctable", "randtable", "compress", "decompress", "bzlib"];
    let sources = parts.map(|part| bzip2.join(part).with_extension("c").into_os_string());
    let flags = ["-w", "-DBZ_NO_STDIO", "-I"].map(OsString::from);
    let flags = flags.into_iter().chain([bzip2.into()]).chain(sources).collect();
    let start = Instant::now();
    let built = build(&program, &Build { flags, ..Build::at("-O1") });
    println!("\narchiver: compiled in {:.0} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let compiled = open(&built.path);
    let (prediction, trace) = whole_way(&compiled, MOST_TIME);
    let seconds = start.elapsed().as_secs_f64();
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF);
    let mebibytes = usage.map_or(0, |usage| usage.max_rss() >> 10);
    println!(
        "archiver: {} events of {} threads, {} after simplification, end to end in {seconds:.1} s and {mebibytes} MiB; {:?}",
        trace.events.len(),
        prediction.statistics.threads,
        prediction.statistics.simplified,
        prediction.coverage,
    );
    for finding in &prediction.findings {
        if finding.standing == Standing::Confirmed && finding.consequence.is_visible() {
            println!("archiver: {} → {:?}", word(finding.candidate.property()), finding.consequence);
        }
    }
    println!("archiver: where the time went: {:?}", prediction.statistics.times);
}

fn word(property: Property) -> &'static str {
    match property {
        Property::Atomicity => "atomicity violation",
        Property::Race => "race",
        Property::Assertion => "assertion or crash",
        Property::Deadlock => "deadlock",
        Property::Wakeup => "wake-up",
        Property::Pattern => "pattern",
    }
}
