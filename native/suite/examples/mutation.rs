//! Does the tool notice? Programs that are right are broken at one place at a time, and it is asked about each.
//!
//! A mutant deletes one lock with its unlock, splits one critical section, makes one `while` around a wait an `if`, deletes one wait or one
//! join, or splits one atomic update. Whether it is wrong at all is judged by stress: runs under many random schedules. A mutant that is wrong
//! is *killed* if one recorded run, in which nothing goes wrong, leads to a confirmed finding that somebody would notice, or to a race.
//! Survivors are named. `make mutation` runs this; `--quick` takes every fifth mutant, and a word takes those whose name has it
//! (`mutation "logger.c: line 21"`). `--show` tells what is found in each.

use claim::{Finding, Property, Standing};
use native::Compiled;
use predict::{Normal, Options, predict_and_confirm};
use std::path::Path;
use std::time::{Duration, Instant};
use subject::{Strategy, Subject as _};
use suite::{Build, Language, Program, build, open, programs};
use trace::{Logging, Outcome, Trace};

/// Random schedules that a mutant has to survive to count as right.
const STRESS: u64 = 150;
/// Recorded runs from which a mutant is looked for, until one finds it.
const RUNS: usize = 5;
/// So many schedules are tried to find as many passing runs.
const MOST_TRIES: u64 = 40;
/// Where priorities change in them.
const TYPICAL_LENGTH: u64 = 1_000;
/// A question that takes the solver longer is given up, as by default for users.
const MOST_TIME: Duration = Duration::from_secs(10);
/// What each run gets, as if a user had said `--budget`.
const BUDGET: Duration = Duration::from_secs(60);
/// Longer runs are not looked at.
const MOST_EVENTS: usize = 20_000;

struct Mutant {
    what: String,
    source: String,
}

fn main() {
    let (options, words): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let quick = options.iter().any(|option| option == "--quick");
    let right: Vec<Program> = programs("")
        .into_iter()
        .filter(|program| !program.has_bug && program.language == Language::C)
        .collect();
    let (mut wrong, mut killed, mut harmless, mut skipped) = (0, 0, 0, 0);
    let mut survivors = vec![];
    let mut number = 0;
    for program in &right {
        let source = std::fs::read_to_string(&program.path).expect("a source");
        for mutant in mutants(&source) {
            number += 1;
            let name = format!("{}: {}", program.name(), mutant.what);
            let is_named = words.is_empty() || words.iter().any(|word| name.contains(word));
            if (quick && number % 5 != 0) || !is_named {
                continue;
            }
            match judge(program, &mutant) {
                Verdict::Skipped => skipped += 1,
                Verdict::Harmless => harmless += 1,
                Verdict::Killed => {
                    wrong += 1;
                    killed += 1;
                }
                Verdict::Survived => {
                    wrong += 1;
                    println!("survived: {name}");
                    survivors.push(name);
                }
            }
        }
        println!("{}: so far {killed} of {wrong} wrong mutants are noticed", program.name());
    }
    println!();
    println!("programs: {}", right.len());
    println!("mutants that stress shows wrong: {wrong}");
    println!(
        "noticed from at most {RUNS} passing runs: {killed} ({:.0} %)",
        100.0 * f64::from(killed) / f64::from(wrong.max(1))
    );
    println!("not shown wrong by {STRESS} random schedules: {harmless}");
    println!("left out because they do not compile, never pass, or run too long: {skipped}");
    survivors.iter().for_each(|name| println!("survivor: {name}"));
}

enum Verdict {
    Skipped,
    Harmless,
    Killed,
    Survived,
}

fn judge(program: &Program, mutant: &Mutant) -> Verdict {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join(program.path.file_name().expect("a name"));
    std::fs::write(&path, &mutant.source).expect("it is written");
    let header = program.path.with_file_name("check.h");
    if header.exists() {
        std::fs::copy(&header, directory.path().join("check.h")).expect("it is copied");
    }
    let mutated = Program { path, ..program.clone() };
    let built = std::panic::catch_unwind(|| build(&mutated, &Build::at("-O1")));
    let Ok(built) = built else { return Verdict::Skipped };
    let compiled = quiet(&built.path);
    let passes = |strategy: &Strategy| {
        let recorded = compiled.record(strategy, &Logging::Synchronisation).ok()?;
        let prints = recorded.output.as_ref().map(|(out, _)| String::from_utf8_lossy(out).into_owned());
        let exited = matches!(recorded.run.trace.outcome, Outcome::Exited { status: 0 });
        Some(exited && prints.as_deref() == Some(&program.prints))
    };
    let stress = (0..STRESS).map(|seed| passes(&Strategy::Random { seed }));
    let is_wrong = match stress.into_iter().find(|passes| *passes != Some(true)) {
        Some(None) => return Verdict::Skipped,
        failed => failed.is_some(),
    };
    // As `threadbare run --runs` takes them, those that pass.
    let many = (0..MOST_TRIES).map(|n| Strategy::nth(n, n + 1, TYPICAL_LENGTH));
    let passing: Vec<Strategy> = std::iter::once(Strategy::RunToBlock)
        .chain(many)
        .filter(|strategy| is_wrong && passes(strategy) == Some(true))
        .take(RUNS)
        .collect();
    match (is_wrong, passing.is_empty()) {
        (false, _) => Verdict::Harmless,
        (true, true) => Verdict::Skipped,
        (true, false) => {
            let traces = passing.iter().filter_map(|strategy| {
                let trace = compiled.run(strategy, &Logging::Everything).ok()?.trace;
                (trace.events.len() <= MOST_EVENTS).then_some(trace)
            });
            let mut looked = false;
            for trace in traces {
                looked = true;
                if is_noticed(&compiled, &trace) {
                    return Verdict::Killed;
                }
            }
            if looked { Verdict::Survived } else { Verdict::Skipped }
        }
    }
}

fn quiet(path: &Path) -> Compiled {
    let mut compiled = open(path);
    let options = compiled.options().clone();
    let timeout = Some(Duration::from_secs(5));
    compiled.set_options(native::launch::Options { timeout, most_events: 1_000_000, ..options });
    compiled
}

fn is_noticed(compiled: &Compiled, trace: &Trace) -> bool {
    let Ok(normal) = Normal::of(compiled, trace, 4, None) else { return false };
    let mut options = Options::default();
    options.engine.limits.time = Some(MOST_TIME);
    options.until = Some(Instant::now() + BUDGET);
    let found = predict_and_confirm(compiled, trace, &options, &normal, &mut |_| {});
    if std::env::args().any(|argument| argument == "--show") {
        let strategy = &trace.origin.strategy;
        match &found {
            Ok(found) => {
                let coverage = &found.coverage;
                println!("{strategy}: {} feasible, {} unknown", coverage.feasible, coverage.unknown);
                for finding in &found.findings {
                    let Finding { candidate, standing, consequence, .. } = finding;
                    println!("    {:?}: {standing:?}, {consequence:?}", candidate.property());
                }
            }
            Err(error) => println!("{strategy}: {error}"),
        }
    }
    found.is_ok_and(|found| {
        found.findings.iter().any(|finding| {
            finding.standing == Standing::Confirmed
                && (finding.consequence.is_visible() || finding.candidate.property() == Property::Race)
        })
    })
}

/// The mutants of a source text, line by line.
fn mutants(source: &str) -> Vec<Mutant> {
    let lines: Vec<&str> = source.lines().collect();
    let mut all = vec![];
    let mut add = |what: String, changed: Vec<String>| {
        all.push(Mutant { what, source: changed.join("\n") + "\n" });
    };
    let owned = || lines.iter().map(|line| (*line).to_owned()).collect::<Vec<String>>();
    for (at, line) in lines.iter().enumerate() {
        let trimmed = line.trim();
        let number = at + 1;
        if let Some(object) = argument(trimmed, "pthread_mutex_lock(") {
            let unlock = format!("pthread_mutex_unlock({object});");
            let end = (at + 1..lines.len()).take_while(|&end| !lines[end].starts_with('}'));
            if let Some(end) = end.into_iter().find(|&end| lines[end].trim() == unlock) {
                let mut changed = owned();
                (changed[at], changed[end]) = (String::new(), String::new());
                add(format!("line {number}: the lock is deleted"), changed);
                // Only between whole statements of the section itself.
                let depth = |line: &str| line.len() - line.trim_start().len();
                for inside in at + 1..end {
                    let whole =
                        lines[inside].trim_end().ends_with(';') && depth(lines[inside]) == depth(line);
                    if whole && inside + 1 < end {
                        let mut changed = owned();
                        changed[inside].push_str(&format!(" {unlock} {trimmed}"));
                        add(format!("line {}: the critical section is split", inside + 1), changed);
                    }
                }
            }
        }
        if trimmed.starts_with("while (")
            && lines.get(at + 1).is_some_and(|next| next.contains("pthread_cond_wait("))
        {
            let mut changed = owned();
            changed[at] = line.replacen("while (", "if (", 1);
            add(format!("line {number}: the wait is not repeated"), changed);
        }
        if trimmed.starts_with("pthread_join(") && trimmed.ends_with(';') {
            let mut changed = owned();
            changed[at] = line.replacen("pthread_join(", "(void)(", 1).replacen(", NULL)", ")", 1);
            add(format!("line {number}: the join is deleted"), changed);
        }
        if let Some(arguments) = argument(trimmed, "atomic_fetch_add(")
            && let Some((object, by)) = arguments.split_once(", ")
        {
            let mut changed = owned();
            changed[at] = format!("atomic_store({object}, atomic_load({object}) + {by});");
            add(format!("line {number}: the atomic update is split"), changed);
        }
    }
    all
}

/// The arguments of a statement that is only this call.
fn argument<'l>(statement: &'l str, call: &str) -> Option<&'l str> {
    statement.strip_prefix(call)?.strip_suffix(");")
}
