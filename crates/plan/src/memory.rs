//! Memory: what locations may hold, and how accesses are coupled with writers (PLAN §4.3, "Encoding Write Events", "Read Events").
//!
//! A location's number in a state says whose write is the last one. A read has a way for each writer of the value that it saw. Where writers of
//! the same value need not be told apart they are one content, and a read has one way.

use crate::build::{Builder, Data};
use crate::problem::{Condition, Content, Effect, Meaning, Variable, Way};
use ctp::{Access, Ctp, EventIndex, ExprId, Kind, LocationId, Write};
use rustc_hash::{FxHashMap, FxHashSet};

/// What each location may hold.
pub(crate) struct Contents {
    by_location: FxHashMap<LocationId, Vec<Content>>,
    /// Whether each writer is a content of its own.
    writers: bool,
    /// Locations that somebody reads: others need not be kept account of.
    read: FxHashSet<LocationId>,
}

impl Contents {
    pub fn new(ctp: &Ctp, data: Data) -> Contents {
        let mut contents = Contents {
            by_location: FxHashMap::default(),
            writers: data == Data::Writers,
            read: FxHashSet::default(),
        };
        if data == Data::Ignored {
            return contents;
        }
        // What nobody knows, a recorded read may have seen.
        let mut seen: FxHashMap<(LocationId, Option<EventIndex>), u128> = FxHashMap::default();
        for read in ctp.reads.iter().filter(|read| happened(ctp, read.when)) {
            seen.insert((read.location, read.source), read.recorded);
            contents.read.insert(read.location);
        }
        for (n, location) in ctp.locations.iter().enumerate() {
            let id = LocationId::new(n);
            let known = location.initial.and_then(|initial| ctp.expressions.recorded(initial));
            let value = known.or_else(|| seen.get(&(id, None)).copied());
            contents.by_location.insert(id, vec![Content { writer: None, value }]);
        }
        for at in (ctp.past..ctp.events.len()).map(EventIndex::new) {
            for write in recorded_writes(ctp, at) {
                let known = ctp.expressions.recorded(write.value);
                let value = known.or_else(|| seen.get(&(write.location, Some(at))).copied());
                contents.add(write.location, Content { writer: Some(ctp.event(at).id), value });
            }
        }
        contents
    }

    /// The index of a content, which is made if it is new.
    pub fn add(&mut self, location: LocationId, content: Content) -> u32 {
        let all = self.by_location.entry(location).or_default();
        let is_same = |known: &Content| match self.writers {
            true => known.writer == content.writer,
            false => {
                known.value == content.value && (known.value.is_some() || known.writer == content.writer)
            }
        };
        let at = all.iter().position(is_same).unwrap_or_else(|| {
            all.push(content);
            all.len() - 1
        });
        at as u32
    }

    pub fn of(&self, location: LocationId) -> &[Content] {
        self.by_location.get(&location).map_or(&[], Vec::as_slice)
    }

    /// The indices of the contents that have a value.
    pub fn with_value(&self, location: LocationId, value: u128) -> Vec<u32> {
        let all = self.of(location).iter().enumerate();
        all.filter(|(_, content)| content.value == Some(value)).map(|(n, _)| n as u32).collect()
    }

    pub fn all(self) -> Vec<(LocationId, Vec<Content>)> {
        let mut all: Vec<_> = self.by_location.into_iter().collect();
        all.sort_unstable_by_key(|(location, _)| *location);
        all
    }
}

pub(crate) fn happened(ctp: &Ctp, when: Option<ExprId>) -> bool {
    when.is_none_or(|when| ctp.expressions.recorded(when) == Some(1))
}

/// The writes that an event made in the recorded run.
pub(crate) fn recorded_writes(ctp: &Ctp, at: EventIndex) -> Vec<&Write> {
    let targets = ctp.event(at).kind.access().into_iter().flat_map(hit(ctp));
    targets.flat_map(|target| &target.writes).filter(|write| happened(ctp, write.when)).collect()
}

/// The reads that an event made in the recorded run: where, and what it saw.
pub(crate) fn recorded_reads(ctp: &Ctp, at: EventIndex) -> Vec<(LocationId, u128)> {
    let targets = ctp.event(at).kind.access().into_iter().flat_map(hit(ctp));
    let reads = targets.flat_map(|target| &target.reads).map(|&read| ctp.read(read));
    reads.filter(|read| happened(ctp, read.when)).map(|read| (read.location, read.recorded)).collect()
}

fn hit<'c>(ctp: &'c Ctp) -> impl Fn(&'c Access) -> Vec<&'c ctp::Target> {
    |access| access.targets.iter().filter(|target| happened(ctp, target.when)).collect()
}

impl Builder<'_> {
    /// The number that says what a location holds, if somebody reads it.
    pub fn location(&mut self, location: LocationId) -> Option<Variable> {
        let is_read = self.contents.read.contains(&location);
        is_read.then(|| self.variable(Meaning::Location(location), 0))
    }

    /// What an event writes, `new` in place of the recorded value if it is given.
    pub fn writes(&mut self, at: EventIndex, new: Option<u128>) -> Vec<Effect> {
        let ctp = self.ctp;
        if self.data == Data::Ignored {
            return vec![];
        }
        let mut does = vec![];
        for write in recorded_writes(ctp, at) {
            let Some(variable) = self.location(write.location) else { continue };
            let writer = Some(ctp.event(at).id);
            let value = new.or_else(|| ctp.expressions.recorded(write.value));
            let content = self.contents.add(write.location, Content { writer, value });
            does.push(Effect::Set(variable, content));
        }
        does
    }

    /// The ways of a memory access: one for each writer of what it saw. If its read is open, also those in which it sees something else and
    /// its thread goes no further.
    pub fn access(&mut self, at: EventIndex, open: bool) -> Vec<Way> {
        if self.data == Data::Ignored {
            return vec![Way::default()];
        }
        let reads = recorded_reads(self.ctp, at);
        let does = self.writes(at, None);
        let mut ways = vec![Way { does: does.clone(), ..Way::default() }];
        for &(location, value) in &reads {
            let variable = self.variable(Meaning::Location(location), 0);
            let sources = self.contents.with_value(location, value);
            let coupled = |way: &Way| {
                let coupled = sources.iter().map(|&source| {
                    let mut way = way.clone();
                    way.needs.push(Condition::Is(variable, source));
                    way
                });
                coupled.collect::<Vec<Way>>()
            };
            ways = ways.iter().flat_map(coupled).collect();
        }
        // What an update writes that reads something else is found out where it matters, see `triple`.
        if open && matches!(self.ctp.event(at).kind, Kind::Read(_)) {
            for &(location, value) in &reads {
                let variable = self.variable(Meaning::Location(location), 0);
                let sources = self.contents.with_value(location, value);
                let needs = sources.into_iter().map(|source| Condition::IsNot(variable, source)).collect();
                ways.push(Way { needs, is_last: true, ..Way::default() });
            }
        }
        ways
    }
}
