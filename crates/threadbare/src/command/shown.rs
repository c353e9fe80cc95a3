//! What a search came upon, as findings: the program is run again along each schedule, and what that run shows is told as all findings are.

use super::runs::Naming;
use crate::cli::{Format, PredictOptions};
use crate::output;
use crate::prediction::{self, Known};
use claim::{Block, Candidate, Deadlock, Engine, Finding, Witness};
use ir::Quantifier;
use machine::Machine;
use machine::oracle::{Answers, Point};
use predict::Normal;
use report::{Description, Explored, Report, Sources, Telling};
use std::collections::BTreeMap;
use std::path::Path;
use subject::{Run, RunError, Schedule, Strategy, Subject};
use trace::{Event, EventId, Logging, Outcome, ThreadId, Trace};

/// Runs a subject again to tell of what was found.
pub struct Shown<'a, S> {
    pub subject: &'a S,
    pub sources: &'a Sources<'a>,
    pub naming: &'a Naming<'a>,
    /// How many clean runs a run is compared with.
    pub clean_runs: u64,
}

/// Whether findings are wanted in another form than text.
pub fn is_wanted(arguments: &PredictOptions) -> bool {
    arguments.format != Format::Text || arguments.html.is_some()
}

impl<S: Subject> Shown<'_, S> {
    /// Writes findings in the form that is asked for, with what the search says; how many there are that are not known.
    pub fn tell(
        &self,
        arguments: &PredictOptions,
        findings: Vec<Description>,
        explored: &Explored,
    ) -> anyhow::Result<usize> {
        let known = Known::read(arguments.suppressions.as_deref(), arguments.baseline.as_deref())?;
        let subject = self.subject.name().to_owned();
        let mut report = Report { subject, findings, explored: Some(explored.clone()), ..Report::default() };
        let about_known = known.take_out(&mut report);
        if let Some(path) = &arguments.html {
            output::check_distinct(&[Path::new(self.subject.name())], &[Some(path)])?;
            output::write_file(path, report::html(&report, self.sources).as_bytes())?;
        }
        if let Some(text) = prediction::formatted(&report, self.sources, arguments.format) {
            output::print(&text)?;
            output::say(&about_known);
            output::say(&explored.text());
        }
        Ok(report.findings.len())
    }

    /// Of a run that failed, or that ended otherwise than it should.
    pub fn run(&self, run: &Run) -> Option<Description> {
        let mut trace = run.trace.clone();
        trace.shorten_thread_names();
        let schedule = trace.schedule();
        self.telling(&trace, |telling| match predict::recorded_failure(&trace) {
            Some(finding) => Some(searched(report::describe(&finding, schedule, telling))),
            None => Some(report::describe_result(self.wrong(&trace)?, &schedule, telling)),
        })
    }

    /// What is wrong with how a run ended.
    fn wrong(&self, trace: &Trace) -> Option<String> {
        match trace.outcome {
            Outcome::Exited { status } if status != 0 => {
                Some(format!("the program exits with status {status}"))
            }
            Outcome::Completed { .. } => {
                let condition = self.subject.program().final_condition.as_ref()?;
                report::violates(trace, self.subject.program())
                    .then(|| format!("the final condition does not hold: {}", condition.text.trim()))
            }
            _ => None,
        }
    }

    fn telling<T>(&self, trace: &Trace, tell: impl FnOnce(&Telling<'_>) -> T) -> T {
        let thread = |thread| (self.naming.thread)(trace, thread);
        let replay = self.naming.replay.text();
        tell(&Telling::new(self.sources, trace, Some(replay), &thread))
    }

    /// A candidate of a run, which is confirmed by following the witness.
    fn candidate(
        &self,
        run: &Trace,
        candidate: Candidate,
        witness: &Witness,
        normal: &Normal,
    ) -> Description {
        let replayed = predict::confirm(self.subject, run, &candidate, witness, normal);
        let event = |id: EventId| run.events.iter().find(|event| event.id == id);
        let events: Vec<&Event> = candidate.events().into_iter().filter_map(event).collect();
        let location = events.first().and_then(|event| event.kind.access()).map(|(_, location, ..)| location);
        let finding = Finding {
            sites: events.iter().map(|event| event.site).collect(),
            location: location.filter(|_| !matches!(candidate, Candidate::Deadlock(_))),
            block: matches!(candidate, Candidate::Atomicity { .. }).then_some(Block::Marked),
            candidate,
            witness: replayed.witness,
            engine: Engine::Symbolic,
            standing: replayed.standing,
            consequence: replayed.consequence,
            others: 0,
            run: replayed.run,
            output: replayed.output,
        };
        let fingerprint = Some(run.origin.fingerprint);
        let schedule = Schedule { fingerprint, ..finding.witness.schedule() };
        self.telling(run, |telling| searched(report::describe(&finding, schedule, telling)))
    }
}

/// Nobody predicted it.
fn searched(description: Description) -> Description {
    Description { engine: None, ..description }
}

impl Shown<'_, Machine> {
    /// All findings of an enumeration, the worst first.
    pub fn answers(&self, answers: &Answers) -> Result<Vec<Description>, RunError> {
        let mut found = vec![];
        for schedule in answers.failures.values() {
            report::gather(&mut found, self.run(&self.follow(schedule)?));
        }
        let first = self.subject.run(&Strategy::RunToBlock, &Logging::Everything)?.trace;
        let normal = Normal::of(self.subject, &first, self.clean_runs, None)?;
        for (blocked, schedule) in &answers.deadlocks {
            let run = self.follow(schedule)?;
            let told = match run.trace.outcome {
                Outcome::Deadlock { .. } => self.run(&run),
                // Others went on, and ended the run in another way.
                _ => {
                    let prefix = Prefix::of(&run.trace, schedule);
                    let never = blocked.iter().map(|one| prefix.behind(one.thread)).collect();
                    let candidate = Candidate::Deadlock(Deadlock::Circle(never));
                    Some(self.candidate(&run.trace, candidate, &prefix.witness, &normal))
                }
            };
            report::gather(&mut found, told);
        }
        for (race, schedule) in &answers.co_enabled {
            let run = self.follow(schedule)?.trace;
            let mut prefix = Prefix::of(&run, schedule);
            let (first, second) = (prefix.next(race.first), prefix.next(race.second));
            if let (Some(first), Some(second)) = (first, second) {
                let candidate = Candidate::co_enabled(first, second);
                report::gather(&mut found, [self.candidate(&run, candidate, &prefix.witness, &normal)]);
            }
        }
        for (race, schedule) in &answers.unordered {
            let run = self.follow(schedule)?.trace;
            let prefix = Prefix::of(&run, schedule);
            if let Some((first, second)) = prefix.last_two(race.first, race.second) {
                let candidate = Candidate::unordered(first, second);
                report::gather(&mut found, [self.candidate(&run, candidate, &prefix.witness, &normal)]);
            }
        }
        for (triple, schedule) in &answers.triples {
            let run = self.follow(schedule)?.trace;
            let prefix = Prefix::of(&run, schedule);
            let after = prefix.last(triple.after, None);
            let between = after.and_then(|after| prefix.last(triple.between, Some(after)));
            let before = between.and_then(|between| prefix.last(triple.before, Some(between)));
            if let (Some(before), Some(between), Some(after)) = (before, between, after) {
                let candidate = Candidate::Atomicity { before, between, after };
                report::gather(&mut found, [self.candidate(&run, candidate, &prefix.witness, &normal)]);
            }
        }
        if let Some(condition) = &self.subject.program().final_condition {
            for schedule in answers.final_states.values() {
                report::gather(&mut found, self.run(&self.follow(schedule)?));
            }
            let is_never = answers.condition(condition.quantifier) == Some(false);
            if condition.quantifier == Quantifier::Exists && is_never {
                let title = format!("no schedule makes the final condition true: {}", condition.text.trim());
                let schedule = first.schedule();
                found
                    .push(self.telling(&first, |telling| report::describe_result(title, &schedule, telling)));
            }
        }
        Ok(found)
    }

    fn follow(&self, schedule: &Schedule) -> Result<Run, RunError> {
        self.subject.run(&Strategy::follow(schedule.clone()), &Logging::Everything)
    }
}

/// The beginning of a run that a schedule says.
struct Prefix<'t> {
    run: &'t Trace,
    done: BTreeMap<ThreadId, u64>,
    witness: Witness,
}

impl<'t> Prefix<'t> {
    fn of(run: &'t Trace, schedule: &Schedule) -> Prefix<'t> {
        let order: Vec<EventId> = (schedule.segments.iter())
            .map(|segment| EventId { thread: segment.thread, n: segment.until })
            .collect();
        let done = order.iter().map(|event| (event.thread, event.n)).collect();
        Prefix { run, done, witness: Witness { recorded: None, order, choices: schedule.choices.clone() } }
    }

    fn done(&self, thread: ThreadId) -> u64 {
        self.done.get(&thread).copied().unwrap_or(0)
    }

    /// What a thread would do next.
    fn behind(&self, thread: ThreadId) -> EventId {
        EventId { thread, n: self.done(thread) + 1 }
    }

    /// The event of an instruction that its thread comes to next; what nobody notices before it becomes a part of the prefix.
    fn next(&mut self, point: Point) -> Option<EventId> {
        let done = self.done(point.thread);
        let is_next =
            |event: &&Event| event.id.thread == point.thread && event.id.n > done && event.site == point.site;
        let next = self.run.events.iter().find(is_next)?.id;
        if next.n > done + 1 {
            self.witness.order.push(EventId { n: next.n - 1, ..next });
        }
        Some(next)
    }

    /// The last events of two instructions in the prefix that touch the same memory.
    fn last_two(&self, one: Point, other: Point) -> Option<(EventId, EventId)> {
        let (a, b) = (self.last(one, None)?, self.last(other, None)?);
        match self.position(a)? < self.position(b)? {
            true => Some((self.last(one, Some(b))?, b)),
            false => Some((a, self.last(other, Some(a))?)),
        }
    }

    fn position(&self, id: EventId) -> Option<usize> {
        self.run.events.iter().position(|event| event.id == id)
    }

    /// The last event of an instruction in the prefix; if another event is given, before that one and of the same memory.
    fn last(&self, point: Point, before: Option<EventId>) -> Option<EventId> {
        let before = match before {
            Some(before) => Some(self.position(before)?),
            None => None,
        };
        let touches = |event: &Event| {
            let other = before.and_then(|at| self.run.events[at].kind.access());
            other.is_none_or(|(_, location, bytes, _)| event.kind.touches(location, bytes))
        };
        let is_it = |event: &&Event| {
            event.id.thread == point.thread
                && event.site == point.site
                && event.id.n <= self.done(point.thread)
                && event.kind.access().is_some()
                && touches(event)
        };
        let end = before.unwrap_or(self.run.events.len());
        self.run.events[..end].iter().rev().find(is_it).map(|event| event.id)
    }
}
