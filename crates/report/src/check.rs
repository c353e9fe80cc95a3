//! What `check` says about a program under a memory model: as text with the execution drawn in columns, and as JSON.

use crate::{Mark, Sources};
use check::atomicity::Violation;
use check::{Core, Execution, Failure, Outcomes, Race, Verdict};
use ir::{CheckKind, FinalCondition, Position, Quantifier, SiteId};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Matrices of more operations are not shown as text.
const MOST_SHOWN: usize = 12;
/// More outcomes are not shown one by one.
const MOST_OUTCOMES: usize = 40;

/// All that was asked and answered.
pub struct Checked<'a> {
    /// The file.
    pub file: &'a str,
    /// The model.
    pub model: &'a str,
    /// Rules that were switched off.
    pub without: &'a [String],
    /// All final states.
    pub outcomes: &'a Outcomes,
    /// The final condition: whether it holds, and the verdict that says so.
    pub condition: Option<(&'a FinalCondition, bool, &'a Verdict)>,
    /// For each single rule: its name, and whether the outcome would be allowed without it.
    pub explained: &'a [(String, bool)],
    /// Assertions, faults and loop bounds that can be reached and fail.
    pub failures: &'a [Failure],
    /// Flags of the model that some execution raises.
    pub flags: &'a [(String, Execution)],
    /// Data races, if they were asked for.
    pub races: Option<&'a [Race]>,
    /// Atomic blocks that can be broken into, if that was asked for, and by which kind of intruder.
    pub violations: Option<(&'a str, &'a [Violation])>,
}

/// The report as text.
#[must_use]
pub fn check(checked: &Checked<'_>, sources: &Sources<'_>) -> String {
    let mut text = String::new();
    failures(&mut text, checked, sources);
    races(&mut text, checked, sources);
    violations(&mut text, checked, sources);
    let rules = match checked.without {
        [] => String::new(),
        rules => format!(" without {}", rules.join(", ")),
    };
    outcomes(&mut text, checked, &rules);
    if let Some((condition, holds, verdict)) = checked.condition {
        let word = quantifier(condition.quantifier);
        let answer = if holds { "holds" } else { "does not hold" };
        let _ = writeln!(text, "{word} ({}): {answer}", condition.text);
        text.push_str(&self::verdict(verdict, condition.quantifier));
        explained(&mut text, checked.explained, verdict.is_allowed());
    }
    for (flag, execution) in checked.flags {
        let _ = write!(
            text,
            "the model raises its flag `{flag}` for this execution:\n{}",
            self::execution(execution)
        );
    }
    coverage(&mut text, checked, sources);
    text
}

/// A table: the first row is its head.
#[must_use]
pub fn check_table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
        let _ = writeln!(text, "{}", cells.join("  ").trim_end());
    }
    text
}

fn quantifier(quantifier: Quantifier) -> &'static str {
    match quantifier {
        Quantifier::Exists => "exists",
        Quantifier::NotExists => "~exists",
        Quantifier::Forall => "forall",
    }
}

fn outcomes(text: &mut String, checked: &Checked<'_>, rules: &str) {
    let states = &checked.outcomes.states;
    let _ = writeln!(text, "outcomes under {}{rules}: {}", checked.model, states.len());
    for state in states.iter().take(MOST_OUTCOMES) {
        let values: Vec<String> =
            state.values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let mark = if state.condition == Some(true) { "  *" } else { "   " };
        let _ = writeln!(text, "{mark} {}", values.join(", "));
    }
    if states.len() > MOST_OUTCOMES {
        let _ = writeln!(text, "    … and {} more", states.len() - MOST_OUTCOMES);
    }
}

/// A verdict in words.
fn verdict(verdict: &Verdict, quantifier: Quantifier) -> String {
    match verdict {
        Verdict::Allowed(execution) => {
            let what = if quantifier == Quantifier::Forall {
                "a counterexample"
            } else {
                "allowed by this execution"
            };
            format!("{what}:\n{}", self::execution(execution))
        }
        Verdict::Forbidden(core) => self::core(core),
    }
}

fn core(core: &Core) -> String {
    let mut text = "forbidden by these rules, of which none can be left out:\n".to_owned();
    let width = core.rules.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, meaning) in &core.rules {
        let _ = writeln!(text, "    {name:width$}  {meaning}");
    }
    if core.order_is_given {
        text.push_str("    (that events are in one order is taken for granted in programs of this size)\n");
    }
    if !core.events.is_empty() {
        text.push_str("and these events:\n");
    }
    for (thread, what, line) in &core.events {
        let line = line.map_or(String::new(), |line| format!(", line {line}"));
        let _ = writeln!(text, "    {thread}: {what}{line}");
    }
    text
}

fn explained(text: &mut String, explained: &[(String, bool)], allowed: bool) {
    if explained.is_empty() {
        return;
    }
    let changing: Vec<&str> =
        explained.iter().filter(|(_, now)| *now != allowed).map(|(rule, _)| &**rule).collect();
    let becomes = if allowed { "forbidden" } else { "allowed" };
    match changing[..] {
        [] => text.push_str("no single rule changes that\n"),
        _ => {
            let _ = writeln!(
                text,
                "switching off one of these rules makes it {becomes}: {}",
                changing.join(", ")
            );
        }
    }
}

/// An execution: columns in time if it has an interleaving, otherwise program order and relations; then the matrix.
fn execution(execution: &Execution) -> String {
    let mut text = String::new();
    let defaults: Vec<&str> = execution
        .operations
        .iter()
        .filter(|o| o.thread.is_none())
        .map(|o| o.what.strip_prefix("write ").unwrap_or(&o.what))
        .collect();
    if !defaults.is_empty() {
        let _ = writeln!(text, "    initially {}", defaults.join(", "));
    }
    let cell = |number: usize| {
        let operation = &execution.operations[number - 1];
        let label = operation.label.as_deref().map_or(String::new(), |label| format!("{label}: "));
        format!("({number}) {label}{}", operation.what)
    };
    let used: Vec<usize> = (0..execution.threads.len())
        .filter(|t| execution.operations.iter().any(|o| o.thread == Some(*t)))
        .collect();
    let of_thread =
        |t: usize| execution.operations.iter().filter(move |o| o.thread == Some(t)).map(|o| o.number);
    let widths: Vec<usize> = used
        .iter()
        .map(|&t| {
            of_thread(t).map(|n| cell(n).chars().count()).max().unwrap_or(0).max(execution.threads[t].len())
        })
        .collect();
    let row = |text: &mut String, cells: Vec<String>| {
        let padded: Vec<String> =
            cells.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
        let _ = writeln!(text, "    {}", padded.join("  ").trim_end());
    };
    row(&mut text, used.iter().map(|&t| execution.threads[t].clone()).collect());
    match &execution.interleaving {
        Some(order) => {
            for &number in order {
                let Some(thread) = execution.operations[number - 1].thread else { continue };
                row(
                    &mut text,
                    used.iter().map(|&t| if t == thread { cell(number) } else { String::new() }).collect(),
                );
            }
        }
        None => {
            let columns: Vec<Vec<usize>> = used.iter().map(|&t| of_thread(t).collect()).collect();
            for at in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
                row(
                    &mut text,
                    columns.iter().map(|c| c.get(at).map_or(String::new(), |&n| cell(n))).collect(),
                );
            }
            for (name, pairs) in &execution.relations {
                let pairs: Vec<String> = pairs.iter().map(|(a, b)| format!("{a} → {b}")).collect();
                let _ = writeln!(text, "    {name}: {}", pairs.join(", "));
            }
        }
    }
    matrix(&mut text, execution);
    text
}

fn matrix(text: &mut String, execution: &Execution) {
    let Some(rows) = execution.matrix.as_ref().filter(|rows| rows.len() <= MOST_SHOWN) else { return };
    text.push_str(
        "which is before which in every (1), in no (0) or in some (X) legal order of these values:\n",
    );
    let numbers: Vec<String> = (1..=rows.len()).map(|n| format!("{n:2}")).collect();
    let _ = writeln!(text, "       {}", numbers.join(" "));
    for (at, row) in rows.iter().enumerate() {
        let entries: Vec<String> = row.chars().map(|c| format!(" {c}")).collect();
        let _ = writeln!(text, "    {:2} {}", at + 1, entries.join(" "));
    }
}

fn message(text: &mut String, sources: &Sources<'_>, title: &str, marks: &[Mark], execution: &Execution) {
    text.push_str(&sources.message(title, marks, &[]));
    let _ = writeln!(text, "\n{}", self::execution(execution));
}

fn failures(text: &mut String, checked: &Checked<'_>, sources: &Sources<'_>) {
    for failure in checked.failures.iter().filter(|f| f.kind != Some(CheckKind::Bound)) {
        let title = match failure.kind {
            Some(_) => "assertion can fail".to_owned(),
            None => format!("fault: {}", failure.what),
        };
        let label = format!("in thread {}", failure.thread);
        message(text, sources, &title, &marks(&[(failure.site, label)]), &failure.execution);
    }
}

fn marks(places: &[(Option<SiteId>, String)]) -> Vec<Mark> {
    let marks = places.iter().enumerate();
    marks
        .filter_map(|(at, (site, label))| {
            site.map(|site| Mark { site, label: label.clone(), primary: at == 0 })
        })
        .collect()
}

fn races(text: &mut String, checked: &Checked<'_>, sources: &Sources<'_>) {
    let Some(races) = checked.races else { return };
    for race in races {
        let title = format!("data race on `{}`: nothing orders these two accesses", race.location);
        let places = [
            (race.second.site, format!("in thread {}", race.second.thread)),
            (race.first.site, format!("and in thread {}", race.first.thread)),
        ];
        message(text, sources, &title, &marks(&places), &race.execution);
    }
    if races.is_empty() {
        text.push_str("free of data races\n");
    }
}

fn violations(text: &mut String, checked: &Checked<'_>, sources: &Sources<'_>) {
    let Some((kind, violations)) = checked.violations else { return };
    for violation in violations {
        let at = violation.position.map_or(String::new(), |p| format!(" at line {}", p.line));
        let title = format!("the atomic block of {}{at} can be broken into", violation.thread);
        let label = format!("{} comes between: {}", violation.intruder, violation.what);
        message(text, sources, &title, &marks(&[(violation.site, label)]), &violation.execution);
    }
    if violations.is_empty() {
        let _ = writeln!(text, "all atomic blocks are atomic ({kind})");
    }
}

fn coverage(text: &mut String, checked: &Checked<'_>, sources: &Sources<'_>) {
    if !checked.outcomes.all {
        let _ = writeln!(
            text,
            "incomplete: stopped after {} outcomes (--max-outcomes)",
            checked.outcomes.states.len()
        );
    }
    for failure in checked.failures.iter().filter(|f| f.kind == Some(CheckKind::Bound)) {
        let place = failure.site.map_or(String::new(), |site| sources.place(site));
        let bound = failure.bound.map_or(String::new(), |bound| format!(", {bound}"));
        let _ = writeln!(
            text,
            "bounded: the loop at {place} can go round more often than its bound{bound}; what comes then is not covered"
        );
    }
}

/// The report as JSON.
#[must_use]
pub fn check_json(checked: &Checked<'_>) -> Value {
    let line = |position: Option<Position>| position.map(|p| p.line);
    let outcomes: Vec<Value> = checked
        .outcomes
        .states
        .iter()
        .map(|o| {
            let values: serde_json::Map<String, Value> =
                o.values.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            json!({ "values": values, "condition": o.condition })
        })
        .collect();
    let condition = checked.condition.map(|(condition, holds, verdict)| {
        let (execution, forbidden) = match verdict {
            Verdict::Allowed(execution) => (json!(execution), Value::Null),
            Verdict::Forbidden(core) => (Value::Null, json!(core)),
        };
        json!({
            "quantifier": quantifier(condition.quantifier),
            "condition": condition.text,
            "holds": holds,
            "allowed": verdict.is_allowed(),
            "execution": execution,
            "core": forbidden,
        })
    });
    let failures: Vec<Value> = checked
        .failures
        .iter()
        .map(|f| json!({ "what": f.what, "thread": f.thread, "line": line(f.position), "bound": f.bound, "execution": f.execution }))
        .collect();
    let races = checked.races.map(|races| {
        let race = |r: &Race| {
            let party = |p: &check::Party| json!({ "thread": p.thread, "line": line(p.position) });
            json!({ "location": r.location, "first": party(&r.first), "second": party(&r.second), "execution": r.execution })
        };
        races.iter().map(race).collect::<Vec<_>>()
    });
    let violations = checked.violations.map(|(kind, violations)| {
        let violation = |v: &Violation| {
            json!({
                "thread": v.thread,
                "line": line(v.position),
                "intruder": v.intruder,
                "what": v.what,
                "intrudes": line(v.intrudes_at),
                "execution": v.execution,
            })
        };
        json!({ "kind": kind, "violations": violations.iter().map(violation).collect::<Vec<_>>() })
    });
    json!({
        "version": 1,
        "file": checked.file,
        "model": checked.model,
        "without": checked.without,
        "outcomes": outcomes,
        "complete": checked.outcomes.all,
        "condition": condition,
        "explained": checked.explained.iter().map(|(rule, allowed)| json!({ "rule": rule, "allowed": allowed })).collect::<Vec<_>>(),
        "flags": checked.flags.iter().map(|(flag, execution)| json!({ "flag": flag, "execution": execution })).collect::<Vec<_>>(),
        "failures": failures,
        "races": races,
        "atomicity": violations,
    })
}
