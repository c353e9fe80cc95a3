//! What a prediction has found: the findings, and what was looked at.

use crate::finding::{Description, Kind};
use crate::{Explored, Mark, Sources};
use claim::{Answer, Candidate, Coverage, Engine, EngineStatistics, Statistics, Unknown};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

/// All that is told of a prediction, in words and numbers.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What was run.
    pub subject: String,
    /// One line on each recorded run.
    pub recorded: Vec<String>,
    /// The findings, the worst first.
    pub findings: Vec<Description>,
    /// What was inferred and nobody would notice (atomicity violations, unchecked wake-ups): no findings, but for who wants to see all.
    pub silent: Vec<Description>,
    /// What was looked at.
    pub coverage: Coverage,
    /// Why candidates are undecided, and how many each.
    pub unknown: Vec<(String, u64)>,
    /// The numbers of AV Table 1.
    pub statistics: Statistics,
    /// What a search says of all schedules, if it was one.
    pub explored: Option<Explored>,
}

impl Report {
    /// Adds what another run of the same program showed. What is known already is not told twice; a finding that was seen takes the
    /// place of one that was only predicted.
    pub fn merge(&mut self, more: Report) {
        self.recorded.extend(more.recorded);
        gather(&mut self.findings, more.findings);
        gather(&mut self.silent, more.silent);
        self.silent.retain(|one| !self.findings.iter().any(|other| other.fingerprint == one.fingerprint));
        self.coverage.add(&more.coverage);
        self.statistics.add(&more.statistics);
        for (reason, count) in more.unknown {
            match self.unknown.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, known)) => *known += count,
                None => self.unknown.push((reason, count)),
            }
        }
    }

    /// Why candidates are undecided, most frequent first.
    #[must_use]
    pub fn reasons<'a>(answers: impl IntoIterator<Item = &'a (Candidate, Answer)>) -> Vec<(String, u64)> {
        let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
        for (_, answer) in answers {
            if let Answer::Unknown(unknown) = answer {
                *reasons.entry(reason(unknown)).or_default() += 1;
            }
        }
        let mut reasons: Vec<(String, u64)> = reasons.into_iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        reasons
    }
}

fn reason(unknown: &Unknown) -> String {
    match unknown {
        Unknown::Time(limit) => format!("no answer in {:.0} s", limit.as_secs_f64().max(1.0)),
        Unknown::Conflicts(limit) => format!("no answer in {limit} conflicts"),
        Unknown::Memory(limit) => format!("no answer in {} MiB", limit >> 20),
        Unknown::States(limit) => format!("no plan in {limit} states"),
        Unknown::OtherValues => "no run in which every read sees what it saw".to_owned(),
        Unknown::NotPreserved => {
            "no run that takes locks in the recorded order and reads from the same writes".to_owned()
        }
        Unknown::Planner(why) => format!("the planner failed: {why}"),
        Unknown::NotAsked => "not a question of an order of events alone (--engine symbolic)".to_owned(),
        Unknown::NotFollowed => "a lock-valid run that the program did not follow".to_owned(),
        Unknown::Interrupted => "interrupted".to_owned(),
        Unknown::Pinned(_) => "it depends on values that had to be taken as recorded".to_owned(),
        Unknown::Window(events) => format!("only a window of {events} events was looked at"),
        Unknown::NotInTrace(what) => format!("the trace does not have {what}"),
        Unknown::Refused(why) => format!("a bug of Threadbare, please report it: its checker says {why}"),
    }
}

/// Adds findings to others. What is known already is not told twice: `x++` reads and writes, and races with another one in three ways.
pub fn gather(known: &mut Vec<Description>, more: impl IntoIterator<Item = Description>) {
    for mut finding in more {
        let is_same = |known: &&mut Description| {
            known.fingerprint == finding.fingerprint && known.location == finding.location
        };
        match known.iter_mut().find(is_same) {
            Some(known) if known.unconfirmed.is_some() && finding.unconfirmed.is_none() => {
                finding.others += 1 + known.others;
                *known = finding;
            }
            Some(known) => known.others += 1 + finding.others,
            None => known.push(finding),
        }
    }
}

/// The report as text.
#[must_use]
pub fn prediction(report: &Report, sources: &Sources<'_>, width: usize) -> String {
    let mut text = String::new();
    for (at, finding) in report.findings.iter().enumerate() {
        text.push_str(&one(finding, &report.findings[..at], sources, width));
        text.push('\n');
    }
    for line in coverage(report) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// How much was found, and what was looked at and what not; the lines below the findings.
pub(crate) fn coverage(report: &Report) -> Vec<String> {
    let mut lines = vec![total(report)];
    let coverage = &report.coverage;
    if !report.silent.is_empty() {
        let count = kinds(&report.silent);
        lines.push(match coverage.same_writes {
            false => format!("without visible effect: {count} (--all shows them)"),
            true => format!("in blocks that nobody has marked: {count}, whose effect only the program could show (--all shows them)"),
        });
    }
    lines.push(format!(
        "looked at {} of {}: {} feasible, {} infeasible, {} unknown",
        plural(coverage.candidates, "candidate", "candidates"),
        match report.recorded.len() {
            0 | 1 => "the recorded run".to_owned(),
            n => format!("{n} recorded runs"),
        },
        coverage.feasible,
        coverage.infeasible,
        coverage.unknown
    ));
    if coverage.same_writes {
        lines.push(
            "values are not known: looked at were schedules in which a thread goes on behind a read only if that saw the same write as \
             in the trace"
                .to_owned(),
        );
    }
    for (reason, count) in &report.unknown {
        lines.push(format!("unknown, {count}: {reason}"));
    }
    if coverage.left_out > 0 {
        lines.push(format!(
            "not looked at: {} at places that have others that were (--per-place)",
            plural(coverage.left_out, "candidate", "candidates")
        ));
    }
    if coverage.events_left_out > 0 {
        lines.push(format!(
            "not looked at: the last {} of the recorded run, for which there was no time (--budget)",
            plural(coverage.events_left_out, "event", "events")
        ));
    }
    if coverage.mismatches > 0 {
        lines.push(format!(
            "a bug of Threadbare, please report it: {} computed otherwise than recorded",
            plural(coverage.mismatches, "value was", "values were")
        ));
    }
    lines
}

/// One finding. A failure to which one above leads has been seen there.
fn one(finding: &Description, above: &[Description], sources: &Sources<'_>, width: usize) -> String {
    let failure = matches!(finding.kind, Kind::AssertionFailure | Kind::Crash).then_some(finding.fails_at);
    let seen_above =
        failure.flatten().is_some_and(|site| above.iter().any(|other| other.fails_at == Some(site)));
    let marks: Vec<Mark> = (finding.places.iter())
        .map(|place| Mark { site: place.site, label: place.label.clone(), primary: place.primary })
        .collect();
    let mut text = match &finding.unconfirmed {
        None => sources.message(&finding.title, &marks, &[]),
        Some(_) => sources.warning(&finding.title, &marks, &[]),
    };
    text.push('\n');
    // Writing to a string cannot fail.
    if seen_above {
        text.push_str("   = seen in the run above, and in that of the schedule below\n");
    } else if !finding.rows.is_empty() {
        let seen = match finding.unconfirmed {
            None => "seen in this run",
            Some(_) if finding.replayable => "the run that was tried",
            Some(_) => "the recorded events, in an order that shows it",
        };
        let _ = writeln!(text, "   = {seen}:");
        for line in trace::show_excerpt(&finding.rows, width.saturating_sub(INDENT.len())).lines() {
            let _ = writeln!(text, "{INDENT}{line}");
        }
    }
    for (at, why) in finding.why.iter().enumerate() {
        let _ = writeln!(text, "   {} {why}", if at == 0 { "= why:" } else { "      " });
    }
    if let Some(consequence) = &finding.consequence {
        let _ = writeln!(text, "   = consequence: {consequence}");
    }
    if let Some(why) = &finding.unconfirmed {
        let _ = writeln!(text, "   = not confirmed: {why}");
    }
    if finding.others > 0 {
        let _ = writeln!(
            text,
            "   = {} at the same places",
            plural(finding.others, "more instance", "more instances")
        );
    }
    if let Some(engine) = finding.engine.filter(|engine| *engine != Engine::Symbolic) {
        let _ = writeln!(text, "   = found by: the engine `{}`", engine.name());
    }
    let _ = match &finding.command {
        Some(command) => writeln!(text, "   = to see it: {command}"),
        None if !finding.replayable => Ok(()),
        None => writeln!(
            text,
            "   = a schedule of {} steps shows it; --save DIR writes it to a file for `threadbare replay`",
            finding.steps
        ),
    };
    let _ = writeln!(text, "   = id: {:016x}", finding.fingerprint);
    text
}

const INDENT: &str = "       ";

/// How many findings there are, and whether they were seen.
fn total(report: &Report) -> String {
    let all = report.findings.len() as u64;
    if all == 0 {
        return "nothing found".to_owned();
    }
    let unconfirmed = report.findings.iter().filter(|finding| finding.unconfirmed.is_some()).count() as u64;
    let seen = match (all, unconfirmed) {
        (1, 0) => "it was seen when the program was run again".to_owned(),
        (_, 0) => "each was seen when the program was run again".to_owned(),
        _ if report.coverage.same_writes => {
            "predicted, because there was no program to be run again".to_owned()
        }
        (all, n) if all == n => "predicted, not confirmed".to_owned(),
        (_, n) => {
            format!("each was seen when the program was run again, but for {n}, which are predicted only")
        }
    };
    format!("{}: {}; {seen}", plural(all, "finding", "findings"), kinds(&report.findings))
}

/// How many of each kind.
fn kinds(findings: &[Description]) -> String {
    let mut counts: BTreeMap<Kind, u64> = BTreeMap::new();
    findings.iter().for_each(|finding| *counts.entry(finding.kind).or_default() += 1);
    let counts = counts.into_iter().map(|(kind, count)| {
        let (one, many) = kind.words();
        plural(count, one, many)
    });
    counts.collect::<Vec<_>>().join(", ")
}

/// The numbers of AV Table 1, and where the time went.
#[must_use]
pub fn prediction_statistics(statistics: &Statistics) -> String {
    let seconds = |time: Duration| format!("{:.3} s", time.as_secs_f64());
    let times = &statistics.times;
    let lines = [
        ("threads (thrds)", statistics.threads.to_string()),
        ("shared locations (svars)", statistics.shared_locations.to_string()),
        ("events (original)", statistics.events.to_string()),
        ("events, simplified (simplify)", statistics.simplified.to_string()),
        ("transactions (regions)", statistics.transactions.to_string()),
        ("potential atomicity violations (orig-pavs)", statistics.potential.to_string()),
        ("  not excluded by fork and join (hb-pavs)", statistics.after_happens_before.to_string()),
        ("  nor by locks (w/o data pavs)", statistics.without_data.to_string()),
        ("  feasible (sym-avs)", statistics.feasible.to_string()),
        ("  unknown", statistics.unknown.to_string()),
        ("time: concurrent trace program", seconds(times.build)),
        ("time: candidates and filters", seconds(times.candidates)),
        ("time: encoding", seconds(times.encode)),
        ("time: solving (sym-time)", seconds(times.solve)),
        ("time: witnesses", seconds(times.witnesses)),
        ("time: replay", seconds(times.replay)),
    ];
    let mut text: String = lines.iter().map(|(name, value)| format!("{name:<44}{value:>12}\n")).collect();
    for (reason, count) in &statistics.pins {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:<44}{count:>12}", format!("taken as recorded: {reason}"));
    }
    text.push_str(&engines(&statistics.engines));
    text
}

/// What each engine did, if several were asked or another than usual.
fn engines(all: &[EngineStatistics]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "{:<10}{:>8}{:>8}{:>10}{:>13}{:>12}{:>12}{:>12}\n",
        "engine", "asked", "runs", "feasible", "not followed", "infeasible", "time", "re-runs"
    );
    for one in all {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:<10}{:>8}{:>8}{:>10}{:>13}{:>12}{:>10.3} s{:>10.3} s",
            one.engine.name(),
            one.asked,
            one.runs,
            one.feasible(),
            one.refused,
            one.infeasible,
            one.time.as_secs_f64(),
            one.replay.as_secs_f64()
        );
    }
    text
}

pub(crate) fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
