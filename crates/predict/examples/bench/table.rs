//! AV Table 1: one row for each program, by the paper's columns, and the same formulas given to z3.

use super::families::Row;
use claim::Property;
use machine::{Machine, Options};
use predict::{Filters, Prediction, Symbolic, Wanted, candidates, symbolic};
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use subject::{Logging, Strategy, Subject as _};
use trace::Trace;

/// The machine that runs a program of the table.
pub fn machine(row: &Row) -> Machine {
    let options = lang::LowerOptions { name: row.name.clone(), path: row.name.clone(), ..Default::default() };
    let program = lang::compile(&row.source, &options).expect("the generator writes well-formed programs");
    Machine::new(program, Options::default()).expect("its programs run")
}

/// The trace of a row.
pub fn record(machine: &Machine, row: &Row) -> Trace {
    let strategy = if row.take_turns { Strategy::RoundRobin { quantum: 1 } } else { Strategy::RunToBlock };
    machine.run(&strategy, &Logging::Everything).expect("it runs").trace
}

fn options() -> predict::Options {
    let wanted = Wanted { properties: vec![Property::Atomicity], per_place: usize::MAX };
    let ctp = ctp::Options { atomic: ctp::Atomic::Marked, ..Default::default() };
    predict::Options { wanted, ctp, ..Default::default() }
}

/// Predicts a row.
pub fn predict(machine: &Machine, trace: &Trace) -> Prediction {
    predict::predict(machine.program(), trace, &options(), &mut |_| {}).expect("it is predicted")
}

/// The formulas of a row: the questions that are left to the engine.
fn formulas(machine: &Machine, trace: &Trace) -> Vec<String> {
    let options = options();
    let ctp = ctp::Ctp::build(machine.program(), trace, &options.ctp).expect("the trace fits");
    let filters = Filters::new(&ctp);
    let mut all = candidates(&ctp, &options.wanted).all;
    all.retain(|candidate| filters.discards(candidate).is_none());
    let mut engine = Symbolic::new(machine.program(), &ctp, &all, symbolic::Options::default())
        .expect("the trace is encoded");
    let scripts = all.iter().map(|candidate| engine.to_smtlib(candidate).expect("it can be written"));
    scripts.flatten().collect()
}

/// What z3 needed for formulas, and for how many of them; it gets so long for all.
fn z3(formulas: &[String], limit: Duration) -> Option<(Duration, usize, usize)> {
    let program = std::env::var("Z3").unwrap_or_else(|_| "z3".to_owned());
    let (mut needed, mut feasible) = (Duration::ZERO, 0);
    for (n, formula) in formulas.iter().enumerate() {
        let Some(left) = limit.checked_sub(needed).filter(|left| !left.is_zero()) else {
            return Some((needed, n, feasible));
        };
        let start = Instant::now();
        let mut child = Command::new(&program)
            .args(["-in", "-smt2", &format!("-T:{}", left.as_secs().max(1))])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        // A process that ends early closes the pipe; its answer says so.
        let _ = child.stdin.take()?.write_all(formula.as_bytes());
        let output = child.wait_with_output().ok()?;
        needed += start.elapsed();
        match String::from_utf8_lossy(&output.stdout).lines().next() {
            Some("sat") => feasible += 1,
            Some("unsat") => {}
            _ => return Some((needed, n, feasible)),
        }
    }
    Some((needed, formulas.len(), feasible))
}

/// Prints the table.
pub fn print(rows: &[Row], with_z3: bool, limit: Duration) {
    println!(
        "| program | thrds | svars | simplify / original | regions | orig-pavs | hb-pavs | sym-avs | w/o data | \
         sym-time s | total s | z3 s | z3 / ours |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut solving = Duration::ZERO;
    for row in rows {
        let machine = machine(row);
        let trace = record(&machine, row);
        let start = Instant::now();
        let prediction = predict(&machine, &trace);
        let total = start.elapsed();
        let s = &prediction.statistics;
        let own = s.times.encode + s.times.solve;
        solving += own;
        let other = with_z3.then(|| z3(&formulas(&machine, &trace), limit)).flatten();
        let other = other.map_or(("–".to_owned(), "–".to_owned()), |(needed, decided, feasible)| {
            let all = s.without_data as usize;
            let more = if decided < all { format!(" for {decided} of {all}") } else { String::new() };
            assert!(decided < all || feasible as u64 == s.feasible, "z3 disagrees on {}", row.name);
            let sign = if decided < all { "> " } else { "" };
            let ratio = needed.as_secs_f64() / own.as_secs_f64();
            (format!("{:.2}{more}", needed.as_secs_f64()), format!("{sign}{ratio:.0}"))
        });
        println!(
            "| {} | {} | {} | {} / {} | {} | {} | {} | {} | {} | {:.3} | {:.3} | {} | {} |",
            row.name,
            s.threads,
            s.shared_locations,
            s.simplified,
            s.events,
            s.transactions,
            s.potential,
            s.after_happens_before,
            s.feasible,
            s.without_data,
            own.as_secs_f64(),
            total.as_secs_f64(),
            other.0,
            other.1,
        );
    }
    println!("\nAll rows together: {:.3} s of encoding and solving.", solving.as_secs_f64());
}
