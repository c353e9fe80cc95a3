//! How many runs each strategy of `explore` needs for compiled programs: `make bench-explore-compiled`.
//!
//! Programs of PRUNE Table 1 and of the suite in C. Each strategy goes on until all is known, or until the assertion was seen to fail, or another order of a run's
//! events was shown to make it fail. *started* is how often the program was run, for whatever reason. `--limit SECONDS` ends a search (20 unless given); names pick rows.

use explore::{Limits, Reduction, Traced, paths, prune, search};
use native::Compiled;
use std::ffi::OsString;
use std::time::{Duration, Instant};
use subject::Subject as _;
use suite::{Build, Program, build, open, programs};
use trace::Trace;

/// The rows: a program, and of the bank how many clerks there are.
const ROWS: [(&str, Option<u32>); 15] = [
    ("fa02", None),
    ("dynRec", None),
    ("indexer", None),
    ("bank-av", Some(2)),
    ("bank-av", Some(3)),
    ("bank-sav", Some(2)),
    ("bank-nav", Some(2)),
    ("philosophers", None),
    ("twins/counter", None),
    ("twins/bounded_buffer", None),
    ("findings/lock_order", None),
    ("findings/narrow_window", None),
    ("waiting/flag", None),
    ("waiting/spin_lock", None),
    ("waiting/peterson", None),
];

/// What one strategy needed.
struct Needed {
    runs: u64,
    /// How often the program was run.
    started: u64,
    time: Duration,
    /// Whether it was seen to fail; `None` if the time was over first, or something is not known.
    fails: Option<bool>,
}

fn options() -> predict::Options {
    let properties = vec![claim::Property::Assertion, claim::Property::Deadlock];
    let wanted = predict::Wanted { properties, per_place: usize::MAX };
    predict::Options { wanted, ..predict::Options::default() }
}

fn failed(trace: &Trace) -> bool {
    predict::recorded_failure(trace).is_some()
}

/// Whether a run fails, or another order of its events does.
fn fails(compiled: &Compiled, trace: &Trace) -> bool {
    let predicted = || predict::predict(compiled.program(), trace, &options(), &mut |_| {}).expect("it fits");
    failed(trace) || !predicted().findings.is_empty()
}

fn dpor(compiled: &Compiled, limit: Duration) -> Needed {
    let start = Instant::now();
    let (mut found, mut over) = (false, false);
    let mut steps = Traced::recognising_spins(compiled).expect("it runs");
    let statistics =
        search(&mut steps, Reduction::Optimal, Limits::default(), &mut |steps: &Traced<'_, Compiled>, _| {
            found |= failed(steps.trace());
            over = start.elapsed() > limit;
            !found && !over
        });
    let whole = !over && steps.incomplete().is_empty();
    let fails = (found || whole).then_some(found);
    Needed { runs: statistics.runs, started: steps.runs(), time: start.elapsed(), fails }
}

fn pruned(compiled: &Compiled, limit: Duration) -> Needed {
    let start = Instant::now();
    let (mut found, mut over) = (false, false);
    let mut steps = Traced::recognising_spins(compiled).expect("it runs");
    let properties = options().wanted.properties;
    let wanted = prune::Options { properties, spins: true, ..prune::Options::default() };
    let explored = prune::explore(
        &mut steps,
        compiled.program(),
        &wanted,
        &mut |steps| Ok(steps.trace().clone()),
        &mut |trace, _| {
            found |= trace.is_some_and(|trace| fails(compiled, trace));
            over = start.elapsed() > limit;
            !found && !over
        },
    );
    let explored = explored.expect("it is explored");
    let whole = !over && explored.incomplete.is_empty() && steps.incomplete().is_empty();
    let fails = (found || whole).then_some(found);
    Needed { runs: explored.runs, started: steps.runs(), time: start.elapsed(), fails }
}

fn by_paths(compiled: &Compiled, limit: Duration) -> Needed {
    let start = Instant::now();
    let (mut runs, mut found, mut over) = (0, false, false);
    let explored = paths::explore(compiled, &paths::Options::default(), &mut |trace, _| {
        runs += 1;
        found |= fails(compiled, trace);
        over = start.elapsed() > limit;
        !found && !over
    });
    let explored = explored.expect("it is explored");
    let whole = !over && explored.incomplete.is_empty() && explored.cut.is_empty();
    Needed { runs, started: runs, time: start.elapsed(), fails: (found || whole).then_some(found) }
}

fn program(name: &str) -> Program {
    let (below, file) = name.rsplit_once('/').unwrap_or(("", name));
    let found = programs(below).into_iter().find(|program| program.name() == format!("{file}.c"));
    found.unwrap_or_else(|| panic!("no program {name}"))
}

fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let mut limit = Duration::from_secs(20);
    if let Some(at) = words.iter().position(|word| word == "--limit") {
        let given = words.drain(at..(at + 2).min(words.len())).nth(1);
        limit =
            Duration::from_secs_f64(given.and_then(|text| text.parse().ok()).expect("a number of seconds"));
    }
    println!(
        "runs, starts of the program, and seconds until all is known or a failure is; a * marks what was not known in time"
    );
    println!("| program | fails | dpor runs | started | s | prune runs | started | s | paths runs | s |");
    println!("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    for (name, clerks) in ROWS {
        let label = clerks.map_or_else(|| name.to_owned(), |clerks| format!("{name}-{clerks}"));
        if !words.is_empty() && !words.iter().any(|word| label.contains(word.as_str())) {
            continue;
        }
        let sized = |clerks: u32| [format!("-DTHREADS={clerks}").into(), "-DROUNDS=1".into()];
        let flags: Vec<OsString> = clerks.map(sized).into_iter().flatten().collect();
        let built = build(&program(name), &Build { flags, ..Build::at("-O1") });
        let compiled = open(&built.path);
        let all = [dpor, pruned, by_paths].map(|strategy| strategy(&compiled, limit));
        let known: Vec<bool> = all.iter().filter_map(|needed| needed.fails).collect();
        let fails = match known[..] {
            [] => "?",
            [first, ..] if known.iter().any(|&fails| fails != first) => "DIFFERS",
            [true, ..] => "yes",
            [false, ..] => "no",
        };
        print!("| {label} | {fails} |");
        let mark = |needed: &Needed| if needed.fails.is_none() { "*" } else { "" };
        for needed in &all[..2] {
            let seconds = needed.time.as_secs_f64();
            print!(" {}{} | {} | {seconds:.3} |", needed.runs, mark(needed), needed.started);
        }
        let paths = &all[2];
        println!(" {}{} | {:.3} |", paths.runs, mark(paths), paths.time.as_secs_f64());
    }
}
