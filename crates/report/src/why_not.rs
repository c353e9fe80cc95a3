//! Why candidates are infeasible, in words.

use crate::Telling;
use crate::finding::Kind;
use claim::{Answer, Because, Candidate};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use trace::EventId;

/// Each infeasible candidate with its reasons; those of the same kind and the same lines are told once.
#[must_use]
pub fn why_not(answers: &[(Candidate, Answer)], telling: &Telling<'_>) -> String {
    let words = Reasons::new(telling);
    let mut told: Vec<String> = vec![];
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for (candidate, answer) in answers {
        let Answer::Infeasible(because) = answer else { continue };
        let mut text = format!("not feasible: {}\n", words.candidate(candidate));
        for because in because {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "   = {}", words.because(because));
        }
        if because.is_empty() {
            let _ = writeln!(text, "   = the steps of the threads themselves exclude it");
        }
        let count = counts.entry(text.clone()).or_default();
        *count += 1;
        if *count == 1 {
            told.push(text);
        }
    }
    if told.is_empty() {
        return "no candidate is infeasible\n".to_owned();
    }
    told.into_iter()
        .map(|text| match counts[&text] {
            1 => text,
            n => format!(
                "{text}   = and the same {} more\n",
                crate::prediction::plural(n - 1, "time", "times")
            ),
        })
        .collect()
}

/// Candidates in words, one line each.
#[must_use]
pub fn candidates(all: &[Candidate], telling: &Telling<'_>) -> Vec<String> {
    let words = Reasons::new(telling);
    all.iter().map(|candidate| words.candidate(candidate)).collect()
}

/// Events of the recorded run in words.
struct Reasons<'a> {
    telling: &'a Telling<'a>,
    /// Where each event stands in the recorded run.
    at: BTreeMap<EventId, usize>,
}

impl<'a> Reasons<'a> {
    fn new(telling: &'a Telling<'a>) -> Reasons<'a> {
        let events = telling.recorded.events.iter().enumerate();
        Reasons { telling, at: events.map(|(at, event)| (event.id, at)).collect() }
    }

    /// `T1 read x (line 12)`.
    fn event(&self, id: EventId) -> String {
        let Some(&at) = self.at.get(&id) else { return format!("event {} of {}", id.n, id.thread) };
        let rows = self.telling.sources.excerpt(self.telling.recorded, &[at], &[]);
        let Some(row) = rows.first() else { return id.to_string() };
        // Without the value, which is the recorded run's, and without where a branch went.
        let words = row.text.split(" = ").next().unwrap_or_default();
        let words = words.split(" := ").next().unwrap_or_default();
        let words = words.split(" →").next().unwrap_or_default();
        let place = match (row.line, &self.telling.sources.program.files[..]) {
            (Some(line), [_]) => format!("line {line}"),
            _ => self.telling.sources.place(self.telling.recorded.events[at].site),
        };
        format!("{} {words} ({place})", row.thread)
    }

    fn candidate(&self, candidate: &Candidate) -> String {
        let events: Vec<String> = candidate.events().into_iter().map(|event| self.event(event)).collect();
        let (kind, _) = Kind::from(candidate).words();
        match candidate {
            Candidate::Atomicity { .. } | Candidate::Wakeup { .. } | Candidate::Pattern(_) => {
                format!("{kind}: {}", events.join(", then "))
            }
            Candidate::Fault { kind, .. } => format!("{} at {}", kind.words(), events.join("")),
            _ => format!("{kind}: {}", events.join(" and ")),
        }
    }

    fn because(&self, because: &Because) -> String {
        match because {
            Because::ProgramOrder { first, second } => {
                format!("{} comes before {}", self.event(*first), self.event(*second))
            }
            Because::Fork(event) => format!("a thread runs only after its fork: {}", self.event(*event)),
            Because::Join(event) => format!("a join waits for the end of the thread: {}", self.event(*event)),
            Because::Lock(event) => format!("this lock keeps others out: {}", self.event(*event)),
            Because::Wait(event) => format!("a wait needs its signal: {}", self.event(*event)),
            Because::Semaphore(event) => format!("a semaphore needs a token: {}", self.event(*event)),
            Because::Barrier(event) => format!("a barrier waits for all: {}", self.event(*event)),
            Because::Exclusive(event) => {
                format!("this block excludes all other threads: {}", self.event(*event))
            }
            Because::Branch(event) => format!("this branch would go another way: {}", self.event(*event)),
            Because::Value(event) => format!("the value that this reads: {}", self.event(*event)),
            Because::Independent { first, second } => format!(
                "in every schedule the order of these two makes no difference: {} and {}",
                self.event(*first),
                self.event(*second)
            ),
            Because::Filter(words) => words.clone(),
        }
    }
}
