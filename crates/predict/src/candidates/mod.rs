//! Candidates: event tuples that would be bugs if feasible (docs/design/candidates.md; AV §3, "PAV").
//!
//! All pairs and triples of a location are inherent, so their number is bounded for each static place: of candidates at the
//! same instructions only so many are kept, and how many were left out is counted. Kept are such as lie close to each other in the
//! recorded run, from all over it; they are found without going through all pairs. A few of each location come first, of accesses that hit
//! it in the recorded run: else the first element of an array, or what a pointer might point to but never does, would take up all the room.

mod atomicity;
pub(crate) mod deadlock;
mod failure;
mod race;
mod wakeup;

use claim::{Candidate, Property};
use ctp::{Ctp, EventIndex, Kind, LocationId, ThreadIndex};
use ir::SiteId;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// What is looked for.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Which properties.
    pub properties: Vec<Property>,
    /// Most candidates at the same instructions.
    pub per_place: usize,
}

impl Default for Wanted {
    fn default() -> Wanted {
        let properties = vec![
            Property::Atomicity,
            Property::Race,
            Property::Assertion,
            Property::Deadlock,
            Property::Wakeup,
        ];
        Wanted { properties, per_place: 16 }
    }
}

/// What was found. Deadlocks are not among them: the engine enumerates them.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    /// All that were kept, ordered.
    pub all: Vec<Candidate>,
    /// How many were left out because of others at the same instructions.
    pub left_out: u64,
}

/// The candidates of a concurrent trace program.
#[must_use]
pub fn candidates(ctp: &Ctp, wanted: &Wanted) -> Candidates {
    let mut collector = Collector { ctp, most: wanted.per_place, ..Collector::new(ctp) };
    for stage in [Stage::FewOfEach, Stage::All] {
        collector.begin(stage);
        if wanted.properties.contains(&Property::Atomicity) {
            atomicity::collect(&mut collector);
        }
        if wanted.properties.contains(&Property::Race) {
            race::collect(&mut collector);
        }
    }
    if wanted.properties.contains(&Property::Assertion) {
        failure::collect(&mut collector);
    }
    if wanted.properties.contains(&Property::Wakeup) {
        wakeup::collect(&mut collector);
    }
    Candidates { all: collector.all.into_iter().collect(), left_out: collector.left_out }
}

/// What is gathered now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// A few candidates of each location, of accesses that hit it in the recorded run.
    FewOfEach,
    /// All, as far as there is room.
    All,
}

/// So many candidates at the same instructions are few of a location, and so many of them may be of the same two threads: else these
/// would take the room of all other locations.
const FEW: usize = 4;
const FEW_OF_TWO_THREADS: usize = 2;

/// Candidates of one kind at the same instructions.
type Place = (u8, Vec<SiteId>);

/// Gathers candidates and bounds them.
struct Collector<'c> {
    ctp: &'c Ctp,
    most: usize,
    all: BTreeSet<Candidate>,
    places: FxHashMap<Place, usize>,
    /// How many the location that is looked at has at a place.
    of_location: FxHashMap<Place, usize>,
    left_out: u64,
    stage: Stage,
    /// The accesses of each location, in recorded order.
    accesses: Vec<Vec<EventIndex>>,
}

impl<'c> Collector<'c> {
    fn new(ctp: &'c Ctp) -> Collector<'c> {
        let (most, all, stage) = (usize::MAX, BTreeSet::new(), Stage::All);
        let (places, of_location) = (FxHashMap::default(), FxHashMap::default());
        Collector { ctp, most, all, places, of_location, left_out: 0, stage, accesses: vec![] }
    }

    fn begin(&mut self, stage: Stage) {
        let ctp = self.ctp;
        self.stage = stage;
        self.accesses = vec![vec![]; ctp.locations.len()];
        // What code does that the trace does not see, no schedule can be asked for.
        for at in (0..ctp.events.len()).map(EventIndex::new).filter(|&at| !ctp.event(at).silent) {
            for location in locations(ctp, at, stage) {
                self.accesses[location.index()].push(at);
            }
        }
    }

    /// The accesses of one location, by thread and instruction. What comes next is about this location.
    fn look_at(&mut self, location: usize) -> Vec<Accesses> {
        self.of_location.clear();
        self.groups(&self.accesses[location])
    }

    /// How many more candidates of two threads there may be at a place.
    fn room(&self, place: &Place) -> usize {
        let so_many = |places: &FxHashMap<Place, usize>| places.get(place).copied().unwrap_or(0);
        let left = self.most.saturating_sub(so_many(&self.places));
        match self.stage {
            Stage::FewOfEach => {
                left.min(FEW_OF_TWO_THREADS).min(FEW.saturating_sub(so_many(&self.of_location)))
            }
            Stage::All => left,
        }
    }

    /// Adds candidates at some instructions while there is room for new ones. `of` is how many there are in all.
    fn take(&mut self, tag: u8, sites: &[SiteId], of: u64, candidates: impl Iterator<Item = Candidate>) {
        let place = (tag, sites.to_vec());
        let room = self.room(&place);
        let (mut new, mut known) = (0, 0);
        for candidate in candidates {
            if self.all.contains(&candidate) {
                known += 1;
            } else if new < room {
                new += 1;
                self.all.insert(candidate);
            } else if self.stage == Stage::FewOfEach {
                break;
            }
        }
        if self.stage == Stage::FewOfEach {
            *self.of_location.entry(place.clone()).or_default() += new;
        }
        *self.places.entry(place).or_default() += new;
        if self.stage == Stage::All {
            self.left_out += of.saturating_sub(new as u64 + known);
        }
    }

    /// Accesses, by thread and instruction.
    fn groups(&self, accesses: &[EventIndex]) -> Vec<Accesses> {
        let mut groups: BTreeMap<(ThreadIndex, SiteId), Vec<EventIndex>> = BTreeMap::new();
        for &at in accesses {
            let event = self.ctp.event(at);
            groups.entry((event.thread, event.site)).or_default().push(at);
        }
        groups.into_iter().map(|((thread, site), events)| Accesses { thread, site, events }).collect()
    }

    /// Adds a candidate unless there are many at the same instructions. `tag` tells kinds of candidates apart.
    fn add(&mut self, tag: u8, sites: Vec<SiteId>, candidate: impl FnOnce() -> Candidate) {
        let so_many = self.places.entry((tag, sites)).or_default();
        if *so_many >= self.most {
            self.left_out += 1;
            return;
        }
        if self.all.insert(candidate()) {
            *so_many += 1;
        }
    }
}

/// Accesses of one location by one instruction of one thread, in recorded order.
struct Accesses {
    thread: ThreadIndex,
    site: SiteId,
    events: Vec<EventIndex>,
}

impl Accesses {
    /// Pairs with accesses of another group: all of them if there are no more than `most`, else about so many. These are spread over the
    /// run, and each has its next neighbours in it.
    fn near<'a>(&'a self, other: &'a Accesses, most: usize) -> Vec<(EventIndex, EventIndex)> {
        let (ours, theirs) = (&self.events, &other.events);
        if ours.len().saturating_mul(theirs.len()) <= most {
            return ours.iter().flat_map(|&a| theirs.iter().map(move |&b| (a, b))).collect();
        }
        let mut pairs = vec![];
        let samples = ours.len().min(most.max(1));
        for n in 0..samples {
            let a = ours[n * ours.len() / samples];
            let next = theirs.partition_point(|&b| b < a);
            let around = next.saturating_sub(1)..(next + 1).min(theirs.len());
            pairs.extend(theirs[around].iter().map(|&b| (a, b)));
        }
        pairs
    }
}

/// The locations that an event may access, or did, each once.
fn locations(ctp: &Ctp, event: EventIndex, stage: Stage) -> Vec<LocationId> {
    let Some(access) = ctp.event(event).kind.access() else { return vec![] };
    let mut all: Vec<LocationId> = vec![];
    let targets = match stage {
        Stage::FewOfEach => &access.targets[..access.targets.len().min(1)],
        Stage::All => &access.targets,
    };
    for target in targets {
        all.extend(target.reads.iter().map(|&read| ctp.read(read).location));
        all.extend(target.writes.iter().map(|write| write.location));
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Whether an access may write in some schedule.
pub(crate) fn may_write(kind: &Kind) -> bool {
    matches!(kind, Kind::Write(_) | Kind::Update(_) | Kind::CompareExchange { .. })
}

/// Whether an access reads.
pub(crate) fn reads(kind: &Kind) -> bool {
    matches!(kind, Kind::Read(_) | Kind::Update(_) | Kind::CompareExchange { .. })
}
