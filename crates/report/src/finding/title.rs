//! The first line of a finding, and its places in the source.

use super::{Place, Words};
use claim::Candidate;
use ir::SiteId;
use trace::{EventId, Outcome};

impl Words<'_> {
    pub(super) fn title(&self) -> String {
        let x = self.location;
        match &self.finding.candidate {
            Candidate::Atomicity { before, between, .. } => {
                let [first, middle, second] = self.verbs();
                let (other, own) = (self.thread(*between), self.thread(*before));
                let whose = match (first, second) {
                    (one, two) if one == two => format!("two {}", many(one)),
                    (one, two) => format!("{} and the {}", noun(one), noun(two)),
                };
                format!(
                    "atomicity violation: {other} {middle} `{x}` between the {whose} in one block of {own}"
                )
            }
            Candidate::CoEnabledRace { first, second } => {
                let (one, two) = (self.thread(*first), self.thread(*second));
                format!("data race on `{x}`: {one} and {two} can be about to access it at once")
            }
            Candidate::UnorderedRace { first, second } => {
                let (one, two) = (self.thread(*first), self.thread(*second));
                format!("data race on `{x}`: nothing orders the accesses of {one} and {two}")
            }
            Candidate::Assertion { .. } => "assertion can fail".to_owned(),
            Candidate::Fault { kind, .. } => format!("crash: {}", kind.words()),
            Candidate::Deadlock(deadlock) => match deadlock.blocked() {
                [one] => format!("deadlock: {} can wait for ever", self.thread(*one)),
                all => format!("deadlock: {} threads can wait for ever", all.len()),
            },
            Candidate::Wakeup { wake, .. } => {
                format!(
                    "unchecked wake-up: {} goes on although it would have to wait again",
                    self.thread(*wake)
                )
            }
            Candidate::Pattern(pattern) => format!("`{}` can happen", pattern.name),
        }
    }

    pub(super) fn places(&self) -> Vec<Place> {
        let events = self.finding.candidate.events();
        let pairs = events.iter().zip(&self.finding.sites);
        pairs.enumerate().map(|(at, (&event, &site))| self.place(at, event, site)).collect()
    }

    fn place(&self, at: usize, event: EventId, site: SiteId) -> Place {
        let thread = self.thread(event);
        let (label, primary) = match &self.finding.candidate {
            Candidate::Atomicity { .. } | Candidate::Pattern(_) => (self.did(event, site), at == 1),
            Candidate::CoEnabledRace { .. } | Candidate::UnorderedRace { .. } => {
                (self.did(event, site), true)
            }
            Candidate::Assertion { .. } => (format!("fails in thread {thread}"), true),
            Candidate::Fault { .. } => (format!("in thread {thread}"), true),
            Candidate::Deadlock(_) => (self.waits(event), true),
            Candidate::Wakeup { .. } if at == 0 => (self.did(event, site), false),
            Candidate::Wakeup { .. } => (self.numbered(event, "is woken and does not look again"), true),
        };
        Place { site, at: self.telling.sources.place(site), thread, label, primary }
    }

    /// `3. T1 reads x`: the number is the row's.
    fn did(&self, event: EventId, site: SiteId) -> String {
        let row = self.rows.iter().find(|row| row.event == event);
        if let (Candidate::Pattern(_), Some(row)) = (&self.finding.candidate, row) {
            return format!("{}. {}: {}", row.number, row.thread, row.text);
        }
        let verb = self.telling.sources.verb(site);
        let what = match verb {
            "reads" | "writes" | "accesses" => format!("{verb} {}", self.location),
            other => other.to_owned(),
        };
        self.numbered(event, &what)
    }

    fn numbered(&self, event: EventId, what: &str) -> String {
        let row = self.rows.iter().find(|row| row.event == event);
        let number = row.map_or(String::new(), |row| format!("{}. ", row.number));
        format!("{number}{} {what}", self.thread(event))
    }

    /// What a thread waits for, as the run that showed it has it.
    fn waits(&self, event: EventId) -> String {
        let name = self.thread(event);
        let blocked = self.finding.run.as_deref().and_then(|run| match &run.outcome {
            Outcome::Deadlock { blocked } => {
                let one = blocked.iter().find(|blocked| blocked.thread == event.thread)?;
                let location = |at| run.location_name(self.telling.sources.program, at);
                Some(crate::outcome::waits_for(&one.waits_for, &|id| run.thread_name(id), &location))
            }
            _ => None,
        });
        format!("{name} {}", blocked.unwrap_or_else(|| "waits here".to_owned()))
    }

    pub(super) fn thread(&self, event: EventId) -> String {
        self.telling.thread_name(event)
    }

    /// What the events do to memory.
    pub(super) fn verbs(&self) -> [&'static str; 3] {
        let verb = |at: usize| {
            self.finding.sites.get(at).map_or("accesses", |&site| self.telling.sources.verb(site))
        };
        [verb(0), verb(1), verb(2)]
    }
}

fn noun(verb: &str) -> &'static str {
    match verb {
        "reads" => "read",
        "writes" => "write",
        "frees" => "free",
        _ => "access",
    }
}

fn many(verb: &str) -> &'static str {
    match verb {
        "reads" => "reads",
        "writes" => "writes",
        "frees" => "frees",
        _ => "accesses",
    }
}
