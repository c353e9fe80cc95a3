//! `make bench-solver`: our solver beside z3 and cvc5 on synthetic traces, 20 candidates each.
//!
//! ```text
//! bench_solver [--limit SECONDS] [--seeds N] [--only-ours] FAMILY...     e.g. p300 p1000 h300
//! bench_solver --ours FAMILY SEED                                        one run of ours, in this process
//! bench_solver --script FAMILY SEED integers|mixed|bitvectors            the script that the others get
//! ```
//!
//! Each solver runs as its own process on one trace, all candidates incrementally; CPU time and peak memory are those
//! of the process. `Z3` and `CVC5` name other binaries.

mod measure;
mod ours;
mod smt;
mod trace;

use measure::Measured;
use smt::Style;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use trace::{Shape, Trace};

fn shape(name: &str, seed: u64) -> Result<Shape, String> {
    let shape =
        Shape::parse(name).ok_or_else(|| format!("{name} is not a family and a size, such as p1000"))?;
    Ok(Shape { seed, ..shape })
}

/// One run of ours: verdict letters on the first line, then where the time went.
fn run_ours(name: &str, seed: u64) -> Result<(), String> {
    let trace = Trace::generate(&shape(name, seed)?);
    let verbose = std::env::var_os("BENCH_VERBOSE").is_some();
    let start = Instant::now();
    let mut encoded = ours::encode(&trace, solver::Options::default()).map_err(|e| e.to_string())?;
    let declared = start.elapsed();
    let mut letters = String::new();
    for &candidate in &trace.candidates {
        let begin = Instant::now();
        let answer = encoded.ask(candidate).map_err(|e| e.to_string())?;
        letters.push(match answer {
            solver::Answer::Sat => 'S',
            solver::Answer::Unsat(_) => 'U',
            solver::Answer::Unknown(_) => '?',
        });
        if verbose {
            let s = encoded.solver.statistics();
            eprintln!(
                "{candidate:?} {} {:?} conflicts {} decisions {}",
                &letters[letters.len() - 1..],
                begin.elapsed(),
                s.conflicts,
                s.decisions
            );
        }
    }
    println!("{letters}");
    let s = encoded.solver.statistics();
    println!(
        "declare {:.3} encode {:.3} solve {:.3}",
        declared.as_secs_f64(),
        s.encoding.as_secs_f64(),
        s.solving.as_secs_f64()
    );
    println!("{s:?}");
    Ok(())
}

struct Contender {
    name: String,
    style: Option<Style>,
    program: String,
    arguments: Vec<String>,
}

fn contenders(only_ours: bool) -> Vec<Contender> {
    let ours = Contender { name: "ours".into(), style: None, program: String::new(), arguments: vec![] };
    let mut all = vec![ours];
    if only_ours {
        return all;
    }
    for (variable, program, arguments) in
        [("Z3", "z3", vec!["-smt2"]), ("CVC5", "cvc5", vec!["--incremental"])]
    {
        let program = std::env::var(variable).unwrap_or_else(|_| program.into());
        if Command::new(&program).arg("--version").output().is_err() {
            eprintln!("{program} is not installed: left out");
            continue;
        }
        for (style, label) in
            [(Style::Integers, "integers"), (Style::Mixed, "mixed"), (Style::BitVectors, "bit-vectors")]
        {
            let arguments = arguments.iter().map(|a| a.to_string()).collect();
            let (name, program) = (format!("{variable} {label}").to_lowercase(), program.clone());
            all.push(Contender { name, style: Some(style), program, arguments });
        }
    }
    all
}

fn verdicts(contender: &Contender, output: &str) -> String {
    match contender.style {
        None => output.lines().next().unwrap_or("").to_string(),
        Some(_) => output
            .lines()
            .filter_map(|l| match l {
                "sat" => Some('S'),
                "unsat" => Some('U'),
                "unknown" => Some('?'),
                _ => None,
            })
            .collect(),
    }
}

fn measure_one(contender: &Contender, name: &str, seed: u64, limit: Duration) -> Result<Measured, String> {
    let command = match contender.style {
        None => {
            let mut command = Command::new(std::env::current_exe().map_err(|e| e.to_string())?);
            command.args(["--ours", name, &seed.to_string()]);
            command
        }
        Some(style) => {
            let script = smt::script(&Trace::generate(&shape(name, seed)?), style);
            let path = std::env::temp_dir().join(format!("threadbare-bench-{}.smt2", std::process::id()));
            std::fs::write(&path, script).map_err(|e| e.to_string())?;
            let mut command = Command::new(&contender.program);
            command.args(&contender.arguments).arg(path);
            command
        }
    };
    measure::run(command, limit).map_err(|e| e.to_string())
}

fn table(names: &[String], seeds: u64, limit: Duration, only_ours: bool) -> Result<bool, String> {
    println!("| trace | solver | answered | wall s | CPU s | peak MiB | CPU, times ours | verdicts |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut agreed = true;
    for name in names {
        for seed in 1..=seeds {
            let (mut base, mut reference) = (0.0, String::new());
            for contender in contenders(only_ours) {
                let measured = measure_one(&contender, name, seed, limit)?;
                let verdicts = verdicts(&contender, &measured.output);
                if contender.style.is_none() {
                    (base, reference) = (measured.cpu, verdicts.clone());
                }
                let same =
                    verdicts.chars().zip(reference.chars()).all(|(a, b)| a == b || a == '?' || b == '?');
                agreed &= same;
                let verdict_note = match (same, contender.style) {
                    (_, None) => verdicts.clone(),
                    (true, _) => "equal".into(),
                    (false, _) => format!("DIFFERENT {verdicts}"),
                };
                let at_least = if measured.finished { "" } else { "> " };
                println!(
                    "| {name}/{seed} | {} | {}/{} | {at_least}{:.2} | {at_least}{:.3} | {:.0} | {at_least}{:.1} | {verdict_note} |",
                    contender.name,
                    verdicts.chars().filter(|&c| c != '?').count(),
                    Shape::parse(name).map_or(0, |s| s.candidates),
                    measured.wall,
                    measured.cpu,
                    measured.memory,
                    measured.cpu / base.max(1e-3),
                );
                if contender.style.is_none() {
                    for line in measured.output.lines().skip(1).take(1) {
                        println!("|  |  | | | | | | {line} |");
                    }
                }
            }
        }
    }
    Ok(agreed)
}

fn main_with(arguments: &[String]) -> Result<bool, String> {
    let number =
        |text: Option<&String>| text.and_then(|t| t.parse::<u64>().ok()).ok_or("a number is expected");
    match arguments {
        [flag, name, seed] if flag == "--ours" => run_ours(name, number(Some(seed))?).map(|()| true),
        [flag, name, seed, style] if flag == "--script" => {
            let style = match style.as_str() {
                "integers" => Style::Integers,
                "mixed" => Style::Mixed,
                "bitvectors" => Style::BitVectors,
                _ => return Err("integers, mixed or bitvectors is expected".into()),
            };
            print!("{}", smt::script(&Trace::generate(&shape(name, number(Some(seed))?)?), style));
            Ok(true)
        }
        _ => {
            let (mut limit, mut seeds, mut only_ours, mut names) = (60, 1, false, Vec::new());
            let mut rest = arguments.iter();
            while let Some(argument) = rest.next() {
                match argument.as_str() {
                    "--limit" => limit = number(rest.next())?,
                    "--seeds" => seeds = number(rest.next())?,
                    "--only-ours" => only_ours = true,
                    name => names.push(name.to_string()),
                }
            }
            if names.is_empty() {
                names = ["p100", "p300", "p1000", "h300"].map(String::from).to_vec();
            }
            table(&names, seeds, Duration::from_secs(limit), only_ours)
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match main_with(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("verdicts differ");
            ExitCode::FAILURE
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}
