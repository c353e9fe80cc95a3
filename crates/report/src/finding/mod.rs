//! Findings in the words of the source: what all formats show.
//!
//! [`describe`] turns a finding into a [`Description`], which is plain text and numbers; terminal, JSON and SARIF print that, each in
//! its manner, and decide nothing.

mod consequence;
mod rows;
mod title;
mod told;
mod why;

use crate::Sources;
use claim::{Candidate, Cause, Engine, Finding, Outside, Standing, Unconfirmed};
use ir::SiteId;
use subject::Schedule;
use told::Told;
use trace::{EventId, ExcerptRow, Trace};

/// A schedule with more steps than this does not go on a command line.
pub const MOST_STEPS: usize = 24;

/// What is needed to tell of the findings of a prediction.
pub struct Telling<'a> {
    /// The program and its sources.
    pub sources: &'a Sources<'a>,
    /// The recorded run.
    pub recorded: &'a Trace,
    /// The command that runs the program again, up to the schedule, and what comes behind it; `None` if there is no program.
    pub replay: Option<(String, String)>,
    /// How a thread is written in a schedule on the command line.
    pub thread: &'a dyn Fn(trace::ThreadId) -> String,
    /// What there is to tell of the recorded run.
    told: Told<'a>,
}

/// What a finding is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// An unserializable interleaving.
    AtomicityViolation,
    /// A data race.
    DataRace,
    /// An assertion that fails.
    AssertionFailure,
    /// What ends the process.
    Crash,
    /// Threads that wait for ever.
    Deadlock,
    /// A wait after which nobody looks again.
    UncheckedWakeup,
    /// What a user asked for.
    Pattern,
    /// A final state or an exit status that should not be.
    WrongResult,
}

impl Kind {
    /// What it is called, for one and for many.
    #[must_use]
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Kind::AtomicityViolation => ("atomicity violation", "atomicity violations"),
            Kind::DataRace => ("data race", "data races"),
            Kind::AssertionFailure => ("failing assertion", "failing assertions"),
            Kind::Crash => ("crash", "crashes"),
            Kind::Deadlock => ("deadlock", "deadlocks"),
            Kind::UncheckedWakeup => ("unchecked wake-up", "unchecked wake-ups"),
            Kind::Pattern => ("pattern", "patterns"),
            Kind::WrongResult => ("wrong result", "wrong results"),
        }
    }
}

impl From<&Candidate> for Kind {
    fn from(candidate: &Candidate) -> Kind {
        match candidate {
            Candidate::Atomicity { .. } => Kind::AtomicityViolation,
            Candidate::CoEnabledRace { .. } | Candidate::UnorderedRace { .. } => Kind::DataRace,
            Candidate::Assertion { .. } => Kind::AssertionFailure,
            Candidate::Fault { .. } => Kind::Crash,
            Candidate::Deadlock(_) => Kind::Deadlock,
            Candidate::Wakeup { .. } => Kind::UncheckedWakeup,
            Candidate::Pattern(_) => Kind::Pattern,
        }
    }
}

/// A place in the source that a finding is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The instruction.
    pub site: SiteId,
    /// Where that is: `file:line:column`.
    pub at: String,
    /// Whose step it is.
    pub thread: String,
    /// What is said about it.
    pub label: String,
    /// Whether it is the heart of the matter.
    pub primary: bool,
}

/// The recorded run, as far as it matters for a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recorded {
    /// The events that the run that showed it has too, and what matters around them.
    pub rows: Vec<ExcerptRow>,
    /// How it ended.
    pub ended: String,
}

/// A finding in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Description {
    /// What it is about.
    pub kind: Kind,
    /// One line.
    pub title: String,
    /// What its events access, where it is about one location.
    pub location: Option<String>,
    /// Where.
    pub places: Vec<Place>,
    /// The run that showed it, as far as it matters.
    pub rows: Vec<ExcerptRow>,
    /// How that run ended, if there was one.
    pub ended: Option<String>,
    /// The recorded run beside it, unless that is the one that showed it.
    pub recorded: Option<Recorded>,
    /// Why that is wrong.
    pub why: Vec<String>,
    /// What came of it.
    pub consequence: Option<String>,
    /// Where the run that showed it failed, if it did.
    pub fails_at: Option<SiteId>,
    /// Whether the program was seen to do it; if not, why.
    pub unconfirmed: Option<String>,
    /// Other instances at the same places.
    pub others: u64,
    /// Who predicted it; `None` if a search came upon it.
    pub engine: Option<Engine>,
    /// The schedule, as a file for `threadbare replay`.
    pub schedule: String,
    /// How many steps the schedule has.
    pub steps: usize,
    /// What the program printed in the run that showed it, if it does.
    pub output: Option<String>,
    /// Whether there is a program to run again.
    pub replayable: bool,
    /// The command that shows it, if it fits on a line.
    pub command: Option<String>,
    /// The same for the same places of an unchanged program.
    pub fingerprint: u64,
}

/// Describes a finding.
#[must_use]
pub fn describe(finding: &Finding, schedule: Schedule, telling: &Telling<'_>) -> Description {
    let rows = match &finding.run {
        Some(run) => rows::rows(run, finding, telling.sources),
        None => vec![],
    };
    let location = finding.location.map(|at| telling.location(at));
    let words = Words { finding, telling, rows: &rows, location: location.as_deref().unwrap_or("memory") };
    let kind = Kind::from(&finding.candidate);
    let title = words.title();
    let places = words.places();
    let command = telling.command(&schedule);
    Description {
        fingerprint: fingerprint(kind, &places, telling.sources),
        why: words.why(),
        consequence: words.consequence(),
        ended: finding.run.as_deref().map(|run| crate::outcome::ending(run, telling.sources)),
        recorded: recorded(finding, &rows, telling),
        fails_at: words.fails_at(),
        unconfirmed: unconfirmed(&finding.standing, telling.sources),
        others: finding.others,
        engine: Some(finding.engine),
        kind,
        title,
        places,
        replayable: telling.replay.is_some(),
        command,
        steps: schedule.segments.len(),
        schedule: telling.schedule_text(&schedule),
        output: finding.output.clone(),
        location,
        rows,
    }
}

/// Describes a run that ended otherwise than it should, and how.
#[must_use]
pub fn describe_result(title: String, schedule: &Schedule, telling: &Telling<'_>) -> Description {
    let mut hash = Fnv::default();
    hash.add(Kind::WrongResult.words().0);
    hash.add(&title);
    Description {
        kind: Kind::WrongResult,
        location: None,
        places: vec![],
        rows: vec![],
        ended: Some(crate::outcome::ending(telling.recorded, telling.sources)),
        recorded: None,
        why: vec![],
        consequence: None,
        fails_at: None,
        unconfirmed: None,
        others: 0,
        replayable: telling.replay.is_some(),
        engine: None,
        schedule: telling.schedule_text(schedule),
        steps: schedule.segments.len(),
        output: None,
        command: telling.command(schedule),
        fingerprint: hash.0,
        title,
    }
}

fn recorded(finding: &Finding, beside: &[ExcerptRow], telling: &Telling<'_>) -> Option<Recorded> {
    let run = telling.recorded;
    if finding.run.as_deref().is_some_and(|shown| shown.switches == run.switches) {
        return None;
    }
    let rows = rows::recorded(&telling.told, finding, beside, telling.sources);
    Some(Recorded { rows, ended: crate::outcome::ending(run, telling.sources) })
}

/// A finding, and what is needed to speak of it.
struct Words<'a> {
    finding: &'a Finding,
    telling: &'a Telling<'a>,
    rows: &'a [ExcerptRow],
    location: &'a str,
}

impl<'a> Telling<'a> {
    /// What is needed to tell of the findings of a prediction from a recorded run.
    #[must_use]
    pub fn new(
        sources: &'a Sources<'a>,
        recorded: &'a Trace,
        replay: Option<(String, String)>,
        thread: &'a dyn Fn(trace::ThreadId) -> String,
    ) -> Telling<'a> {
        Telling { sources, recorded, replay, thread, told: Told::new(recorded) }
    }

    fn thread_name(&self, event: EventId) -> String {
        self.recorded.thread_name(event.thread)
    }

    fn location(&self, location: trace::Location) -> String {
        self.recorded.location_name(self.sources.program, location)
    }

    /// A schedule as a file for `threadbare replay`.
    #[must_use]
    pub fn schedule_text(&self, schedule: &Schedule) -> String {
        schedule.to_text(|thread| Some(self.recorded.thread_name(thread)))
    }

    /// The command that runs the program again under a schedule, if that is short.
    #[must_use]
    pub fn command(&self, schedule: &Schedule) -> Option<String> {
        let (before, behind) = self.replay.as_ref()?;
        let short = schedule.to_short(self.thread);
        (schedule.segments.len() <= MOST_STEPS).then(|| format!("{before} '{short}'{behind}"))
    }
}

fn unconfirmed(standing: &Standing, sources: &Sources<'_>) -> Option<String> {
    match standing {
        Standing::Confirmed => None,
        Standing::Predicted(Unconfirmed::NotReplayed) => Some("the program was not run again".to_owned()),
        Standing::Predicted(Unconfirmed::NoSubject) => {
            Some("the trace is another tool's, and there was no program to be run again".to_owned())
        }
        Standing::Predicted(Unconfirmed::Departed { how, cause, asked_again }) => {
            let mut words = format!("the run departs from the schedule: {how}");
            if let Some(cause) = cause {
                words.push_str(&format!("; {}", why_departed(cause, sources)));
            }
            if *asked_again > 0 {
                let times =
                    if *asked_again == 1 { "once".to_owned() } else { format!("{asked_again} times") };
                words.push_str(&format!(" (asked {times} for a schedule without that)"));
            }
            Some(words)
        }
        Standing::Predicted(Unconfirmed::NotShown) => {
            Some("the run followed the schedule and did not show it".to_owned())
        }
        Standing::Predicted(Unconfirmed::NotRun(why)) => Some(format!("the program could not be run: {why}")),
    }
}

fn why_departed(cause: &Cause, sources: &Sources<'_>) -> String {
    let place = sources.place(cause.site);
    match cause.outside {
        Outside::DidNotComeBack => {
            format!("the call at {place}, which leaves the program, did not come back")
        }
        Outside::Result { recorded, seen } => {
            format!(
                "the call at {place}, which leaves the program, gave {seen} and not {recorded} as in the recorded run"
            )
        }
        Outside::Memory => format!("what code outside the program had written was not the same at {place}"),
    }
}

/// Of what kind, and the source lines of its places: edits elsewhere in the file do not change it.
fn fingerprint(kind: Kind, places: &[Place], sources: &Sources<'_>) -> u64 {
    let mut hash = Fnv::default();
    hash.add(kind.words().0);
    for place in places {
        hash.add(&sources.function(place.site));
        hash.add(sources.line_text(place.site).trim());
    }
    hash.0
}

/// FNV-1a: the same everywhere and for ever.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
