//! What an exploration of all schedules has found.

use crate::outcome::{deadlock, quantifier_word, waits_for};
use crate::{Mark, Sources};
use ir::Quantifier;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use subject::Schedule;
use subject::answers::{Answers, LimitReached, Point, Race, Triple};
use trace::{BlockedThread, Location, ThreadId};

/// Schedules with more steps than this are not shown on one line.
const MOST_STEPS: usize = 24;

/// The report. Findings of the same places in the source are one message; each ends with the command that shows it, which
/// begins with `replay` (`threadbare replay prog.tb`). `location_name` gives the name of what a blocked thread waits for.
#[must_use]
pub fn exploration(
    answers: &Answers,
    sources: &Sources<'_>,
    location_name: &dyn Fn(Location) -> String,
    replay: &str,
) -> String {
    let mut report = Report { answers, sources, location_name, replay, text: String::new() };
    report.failures();
    report.races();
    report.triples();
    report.deadlocks();
    report.final_states();
    report.coverage();
    report.text
}

/// Why schedules may be missing, in words.
#[must_use]
pub fn incomplete(answers: &Answers) -> Option<String> {
    Some(match answers.limit? {
        LimitReached::Steps(n) => format!("stopped after {} (--max-steps)", count(n, "event")),
        LimitReached::States(n) => format!("stopped after {} (--max-states)", count(n, "state")),
        LimitReached::Runs(n) => format!("stopped after {} (--max-runs)", count(n, "run")),
        LimitReached::RunLength(n) => {
            format!("some runs were cut after {} (--max-steps)", count(n, "step"))
        }
        LimitReached::Interrupted => "interrupted".to_owned(),
        LimitReached::Memory(n) => format!("stopped at {} MiB of memory (--max-state-memory)", n >> 20),
    })
}

struct Report<'a> {
    answers: &'a Answers,
    sources: &'a Sources<'a>,
    location_name: &'a dyn Fn(Location) -> String,
    replay: &'a str,
    text: String,
}

impl Report<'_> {
    fn message(&mut self, title: &str, marks: &[Mark], notes: &[String]) {
        self.text.push_str(&self.sources.message(title, marks, notes));
        self.text.push_str("\n\n");
    }

    fn failures(&mut self) {
        let groups = group(&self.answers.failures, |failure| (failure.at.site, failure.fault));
        for ((site, fault), found) in groups {
            let (failure, schedule) = shortest(&found);
            let title = fault.map_or("assertion can fail", |kind| kind.words());
            let label = format!("in thread {}", self.thread(failure.at.thread));
            let mut notes = vec![self.command(schedule)];
            notes.extend(others(found.len(), "thread", "threads"));
            self.message(title, &[Mark { site, label, primary: true }], &notes);
        }
    }

    fn races(&mut self) {
        let sites = |race: &Race| (race.first.site, race.second.site);
        let co_enabled = group(&self.answers.co_enabled, sites);
        for (sites, found) in &co_enabled {
            let title = format!(
                "data race on `{}`: two threads can be about to access it at once",
                self.location(*sites)
            );
            self.race(&title, *sites, found, "the two accesses are next after it");
        }
        for (sites, found) in group(&self.answers.unordered, sites) {
            if !co_enabled.contains_key(&sites) {
                let title =
                    format!("data race on `{}`: nothing orders these two accesses", self.location(sites));
                self.race(
                    &title,
                    sites,
                    &found,
                    "no lock, join, or release and acquire stands between the two",
                );
            }
        }
    }

    fn race(
        &mut self,
        title: &str,
        sites: (ir::SiteId, ir::SiteId),
        found: &[(&Race, &Schedule)],
        explained: &str,
    ) {
        let (race, schedule) = shortest(found);
        let name = self.location(sites);
        let marks = [self.access(race.first, &name, "", true), self.access(race.second, &name, "", true)];
        let mut notes = vec![format!("{}; {explained}", self.command(schedule))];
        notes.extend(others(found.len(), "pair of threads", "pairs of threads"));
        self.message(title, &marks, &notes);
    }

    fn triples(&mut self) {
        let sites = |triple: &Triple| (triple.before.site, triple.between.site, triple.after.site);
        for ((before, between, _), found) in group(&self.answers.triples, sites) {
            let (triple, schedule) = shortest(&found);
            let name = self.location((before, between));
            let title = format!(
                "atomicity violation on `{name}`: {} comes between two accesses of one transaction",
                self.thread(triple.between.thread)
            );
            let marks = [
                self.access(triple.before, &name, "1. ", false),
                self.access(triple.between, &name, "2. ", true),
                self.access(triple.after, &name, "3. ", false),
            ];
            let mut notes = vec![self.command(schedule)];
            notes.extend(others(found.len(), "pair of threads", "pairs of threads"));
            self.message(&title, &marks, &notes);
        }
    }

    fn deadlocks(&mut self) {
        for (blocked, schedule) in &self.answers.deadlocks {
            let thread = |id| self.thread(id);
            let words = |one: &BlockedThread| waits_for(&one.waits_for, &thread, self.location_name);
            let text = deadlock(blocked, self.sources, &thread, &words, &[self.command(schedule)]);
            self.text.push_str(&text);
            self.text.push_str("\n\n");
        }
    }

    fn final_states(&mut self) {
        let _ = writeln!(self.text, "final states: {}", self.answers.final_states.len());
        for state in self.answers.final_states.keys() {
            let _ = write!(self.text, "    {}", values(&state.values));
            self.text.push_str(if state.condition == Some(true) { "  (*)\n" } else { "\n" });
        }
        let Some(condition) = &self.sources.program.final_condition else { return };
        let verdict = match self.answers.condition(condition.quantifier) {
            Some(true) => "holds",
            Some(false) => "does not hold",
            None if self.answers.limit.is_some() => "not known: not all schedules were seen",
            None if condition.quantifier == Quantifier::Exists => "not seen up to the bounds",
            None => "holds in every schedule up to the bounds",
        };
        let word = quantifier_word(condition.quantifier);
        let marked = self.answers.final_states.keys().any(|state| state.condition == Some(true));
        let legend = if marked { ", (*) marks the states in which the formula is true" } else { "" };
        let _ = writeln!(self.text, "{word} ({}): {verdict}{legend}", condition.text.trim());
        // One state settles it: show how to get there.
        let settling = condition.quantifier != Quantifier::Forall;
        let found = self.answers.final_states.iter().find(|(state, _)| state.condition == Some(settling));
        if let Some((state, schedule)) = found {
            let _ = writeln!(self.text, "    {}: {}", values(&state.values), self.command(schedule));
        }
    }

    fn coverage(&mut self) {
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
        let _ = match self.answers.one_of_each_class {
            false => writeln!(self.text, "schedules: {}{parts}", counts.total()),
            true => writeln!(
                self.text,
                "runs: {}{parts}; each stands for all schedules that differ from it only in the order of independent steps",
                counts.total()
            ),
        };
        for site in self.answers.bounds.keys() {
            let place = self.sources.place(*site);
            let _ =
                writeln!(self.text, "bounded: schedules are cut where the loop at {place} reaches its bound");
        }
        for site in self.answers.exhausted.keys() {
            let place = self.sources.place(*site);
            let _ = writeln!(
                self.text,
                "bounded: schedules are cut at {place}, at the machine's limit on threads, calls, allocations or computation"
            );
        }
        if let Some(most) = self.answers.switches {
            let _ = writeln!(
                self.text,
                "bounded: only schedules with at most {} were gone through",
                match most {
                    1 => "1 context switch".to_owned(),
                    n => format!("{n} context switches"),
                }
            );
        }
        if self.answers.cyclic {
            self.text.push_str("bounded: some schedules never end; they are not counted\n");
        }
        if let Some(why) = incomplete(self.answers) {
            let _ = writeln!(self.text, "incomplete: {why}");
        }
    }

    fn thread(&self, id: ThreadId) -> String {
        self.answers.threads.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }

    fn location(&self, sites: (ir::SiteId, ir::SiteId)) -> String {
        self.answers.locations.get(&sites).cloned().unwrap_or_else(|| "memory".to_owned())
    }

    fn access(&self, point: Point, location: &str, before: &str, primary: bool) -> Mark {
        let verb = self.sources.verb(point.site);
        Mark {
            site: point.site,
            label: format!("{before}{} {verb} {location}", self.thread(point.thread)),
            primary,
        }
    }

    /// How to see it.
    fn command(&self, schedule: &Schedule) -> String {
        match schedule.segments.len() {
            0 => "it is so from the start, before any event".to_owned(),
            1..=MOST_STEPS => {
                let short = schedule.to_short(|thread| self.thread(thread));
                format!("to see it: {} '{short}'", self.replay)
            }
            n => format!(
                "a schedule of {n} steps shows it; --save DIR writes it to a file for `threadbare replay`"
            ),
        }
    }
}

/// Findings by what they have in common.
fn group<K, V, G: Ord>(found: &BTreeMap<K, V>, common: impl Fn(&K) -> G) -> BTreeMap<G, Vec<(&K, &V)>> {
    let mut groups: BTreeMap<G, Vec<(&K, &V)>> = BTreeMap::new();
    for (finding, schedule) in found {
        groups.entry(common(finding)).or_default().push((finding, schedule));
    }
    groups
}

/// The finding of a group that is easiest to follow; groups are not empty.
fn shortest<'f, K>(found: &[(&'f K, &'f Schedule)]) -> (&'f K, &'f Schedule) {
    let by_length = |&&(_, schedule): &&(&K, &Schedule)| schedule.segments.len();
    found.iter().min_by_key(by_length).copied().unwrap_or(found[0])
}

/// How many more there are of what is shown once.
fn others(all: usize, one: &str, many: &str) -> Option<String> {
    match all {
        0 | 1 => None,
        2 => Some(format!("the same for 1 more {one}")),
        n => Some(format!("the same for {} more {many}", n - 1)),
    }
}

fn count(n: u64, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

fn values(values: &[(String, String)]) -> String {
    match values.is_empty() {
        true => "(there are no shared variables)".to_owned(),
        false => {
            values.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
        }
    }
}
