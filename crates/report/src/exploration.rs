//! What an exploration of all schedules has found.

use crate::outcome::{deadlock, quantifier_word};
use crate::{Mark, Sources};
use ir::Quantifier;
use machine::Machine;
use machine::oracle::{Answers, LimitReached, Point};
use std::fmt::Write as _;
use subject::{Schedule, Subject as _};
use trace::ThreadId;

/// The report. Each finding is a message with its place in the source and the schedule that shows it, in short form.
#[must_use]
pub fn exploration(machine: &Machine, answers: &Answers, sources: &Sources<'_>) -> String {
    let report = Report { machine, answers, sources };
    let mut text = String::new();
    report.findings(&mut text);
    report.final_states(&mut text);
    report.coverage(&mut text);
    text
}

/// Schedules with more steps than this are not shown on one line.
const MOST_STEPS: usize = 24;

struct Report<'a> {
    machine: &'a Machine,
    answers: &'a Answers,
    sources: &'a Sources<'a>,
}

impl Report<'_> {
    fn findings(&self, text: &mut String) {
        let mut message = |title: &str, marks: &[Mark], schedule: &Schedule| {
            let note = self.replay(schedule);
            text.push_str(&self.sources.message(title, marks, &[note]));
            text.push_str("\n\n");
        };
        for (failure, schedule) in &self.answers.failures {
            let title = failure.fault.map_or("assertion can fail", |kind| kind.words());
            message(title, &[self.mark(failure.at, "in thread", true)], schedule);
        }
        for (race, schedule) in &self.answers.co_enabled {
            let marks = [self.mark(race.first, "thread", true), self.mark(race.second, "thread", true)];
            message("data race: both accesses can be next at once", &marks, schedule);
        }
        for (race, schedule) in &self.answers.unordered {
            if !self.answers.co_enabled.contains_key(race) {
                let marks = [self.mark(race.first, "thread", true), self.mark(race.second, "thread", true)];
                message("data race: happens-before does not order the accesses", &marks, schedule);
            }
        }
        for (triple, schedule) in &self.answers.triples {
            let marks = [
                self.mark(triple.before, "first:", false),
                self.mark(triple.between, "between:", true),
                self.mark(triple.after, "then:", false),
            ];
            message("atomicity violation: another thread comes between", &marks, schedule);
        }
        for (blocked, schedule) in &self.answers.deadlocks {
            let thread = |id| self.thread(id);
            let location = |at| self.machine.location_name(at);
            let note = self.replay(schedule);
            text.push_str(&deadlock(blocked, self.sources, &thread, &location, &[note]));
            text.push_str("\n\n");
        }
    }

    fn final_states(&self, text: &mut String) {
        let _ = writeln!(text, "final states: {}", self.answers.final_states.len());
        for state in self.answers.final_states.keys() {
            let values: Vec<String> = state.values.iter().map(|(n, v)| format!("{n} = {v}")).collect();
            let mark = match state.condition {
                Some(true) => "  (*)",
                _ => "",
            };
            let _ = writeln!(text, "    {}{mark}", values.join(", "));
        }
        if let Some(condition) = &self.sources.program.final_condition {
            let verdict = match self.answers.condition(condition.quantifier) {
                Some(true) => "holds",
                Some(false) => "does not hold",
                None if self.answers.limit.is_some() => "not known: not all schedules were seen",
                None if condition.quantifier == Quantifier::Exists => "not seen up to the loop bounds",
                None => "holds in every schedule up to the loop bounds",
            };
            let word = quantifier_word(condition.quantifier);
            let _ = writeln!(text, "{word} {}: {verdict}", condition.text.trim());
        }
    }

    fn coverage(&self, text: &mut String) {
        let counts = self.answers.schedules;
        let parts = [
            (counts.completed, "completed"),
            (counts.failed, "failed"),
            (counts.deadlocked, "deadlocked"),
            (counts.discarded, "discarded by an assumption"),
            (counts.cut, "cut"),
        ];
        let parts: Vec<String> =
            parts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
        let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
        let _ = writeln!(text, "schedules: {}{parts}", counts.total());
        for site in self.answers.bounds.keys() {
            let place = self.sources.place(*site);
            let _ = writeln!(text, "bounded: the loop at {place} reached its bound in some schedules");
        }
        if self.answers.cyclic {
            text.push_str("bounded: some schedules never end; they are not counted\n");
        }
        match self.answers.limit {
            Some(LimitReached::Steps(n)) => {
                let _ = writeln!(text, "incomplete: stopped after {n} events (--max-steps)");
            }
            Some(LimitReached::States(n)) => {
                let _ = writeln!(text, "incomplete: stopped after {n} states (--max-states)");
            }
            Some(LimitReached::Memory(n)) => {
                let _ = writeln!(text, "incomplete: stopped at {} MiB of memory (--max-memory)", n >> 20);
            }
            None => {}
        }
    }

    fn thread(&self, id: ThreadId) -> String {
        self.answers.threads.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }

    fn mark(&self, point: Point, word: &str, primary: bool) -> Mark {
        Mark { site: point.site, label: format!("{word} {}", self.thread(point.thread)), primary }
    }

    /// How to see it.
    fn replay(&self, schedule: &Schedule) -> String {
        match schedule.segments.len() {
            0 => "it is so from the start, before any event".to_owned(),
            1..=MOST_STEPS => {
                let short = schedule.to_short(|thread| self.thread(thread));
                format!("to see it: threadbare replay {} '{short}'", self.machine.name())
            }
            n => format!(
                "a schedule of {n} steps shows it; --save DIR writes it to a file for `threadbare replay`"
            ),
        }
    }
}
