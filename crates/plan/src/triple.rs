//! Three accesses as a goal: e1 < f, and e2 not before f (PLAN §4.3, "Encoding Atomicity Violation and Goal").
//!
//! PLAN's plans end with f. Ours can also go on to e2. Then the three accesses are to be an atomicity violation indeed: of an unserializable
//! kind, and not guarded independent (AV §3, Def. 2). Both depend on what the location holds, so e1, f and e2 have one way for each value
//! that they may find there, and the state remembers what the one before has found.

use crate::build::{Builder, Data};
use crate::goal::Until;
use crate::memory::{happened, recorded_reads, recorded_writes};
use crate::problem::{Condition, Content, Effect, Meaning, ThreadNumber, Variable, Way};
use claim::is_unserializable;
use ctp::{Access, Ctp, EventIndex, Expr, ExprId, Kind, LocationId};
use rustc_hash::FxHashMap;
use trace::{AccessKind, EventId};

/// A location that may hold more values than this is not looked into: the independent checker does, afterwards.
const MOST_VALUES: usize = 48;

pub(crate) fn set_goal(builder: &mut Builder<'_>, events: [EventId; 3], until: Until) {
    let places = events.map(|event| builder.places.get(&event).copied());
    let found = events.map(|event| builder.ctp.find(event));
    let ([Some(e1), Some(f), Some(e2)], [Some(first), Some(second), Some(third)]) = (places, found) else {
        builder.problem.is_hopeless = true;
        return;
    };
    let accesses = [first, second, third];
    if builder.data != Data::Ignored && !overlap(builder.ctp, accesses) {
        builder.problem.is_hopeless = true;
        return;
    }
    if until == Until::After && builder.data == Data::Values {
        look_into(builder, [e1, f, e2], accesses);
    }
    let [happened_e1, happened_f, happened_e2] = [("e1", 0), ("f", 1), ("e2", 2)]
        .map(|(name, n)| builder.variable(Meaning::Happened(name, events[n]), 0));
    builder.also(e1, Effect::Set(happened_e1, 1));
    builder.need(f, Condition::Is(happened_e1, 1));
    builder.also(f, Effect::Set(happened_f, 1));
    builder.need(e2, Condition::Is(happened_f, 1));
    builder.also(e2, Effect::Set(happened_e2, 1));
    let reached = if until == Until::Between { happened_f } else { happened_e2 };
    builder.problem.goal.push(Condition::Is(reached, 1));
}

/// Whether any two of the accesses touch some byte in common, where they were in the recorded run.
fn overlap(ctp: &Ctp, accesses: [EventIndex; 3]) -> bool {
    let bytes = |at: EventIndex| ctp.event(at).kind.access().map(|access| (access.recorded, access.bytes));
    let [Some(a), Some(b), Some(c)] = accesses.map(bytes) else { return false };
    [(a, b), (b, c), (a, c)].into_iter().all(|((one, bytes), (other, more))| {
        one.allocation == other.allocation
            && one.offset < other.offset + more
            && other.offset < one.offset + bytes
    })
}

/// What one of the accesses did: what it found and left, and how.
#[derive(Clone, Copy)]
struct Access3 {
    before: u128,
    after: u128,
    kind: AccessKind,
    /// It saw what it saw in the recorded run, if it reads.
    as_recorded: bool,
}

/// Gives the three accesses one way for each value that they may find.
fn look_into(builder: &mut Builder<'_>, places: [(ThreadNumber, usize); 3], accesses: [EventIndex; 3]) {
    let ctp = builder.ctp;
    let kind = |at: EventIndex| ctp.event(at).kind.access_kind();
    let [Some(one), Some(two), Some(three)] = accesses.map(kind) else { return };
    let Some(location) = the_location(ctp, accesses) else {
        // Parts of each other: never independent. Only the kind has to be right.
        if !is_unserializable(one, two, three) {
            builder.problem.is_hopeless = true;
        }
        return;
    };
    let Some(variable) = builder.location(location) else {
        // Nobody reads it: three writes, which are independent if they write the same. Values are known, or never equal.
        let written = accesses.map(|at| new_value(ctp, at, 0));
        let same = |a: Option<u128>, b: Option<u128>| a.is_some() && a == b;
        builder.problem.is_hopeless = same(written[0], written[1])
            || same(written[1], written[2])
            || !is_unserializable(one, two, three);
        return;
    };
    if builder.contents.of(location).len() > MOST_VALUES {
        return;
    }
    let remembers = ["e1", "f"].map(|name| builder.variable(Meaning::Before(name), 0));
    let mut looks = Looks { location, variable, accesses, done: FxHashMap::default() };
    looks.ways(builder, 0, places[0], None, Some(remembers[0]));
    looks.ways(builder, 1, places[1], Some(remembers[0]), Some(remembers[1]));
    looks.ways(builder, 2, places[2], Some(remembers[1]), None);
}

/// The one location that all three are about, if each is of exactly that one.
fn the_location(ctp: &Ctp, accesses: [EventIndex; 3]) -> Option<LocationId> {
    let location = |at: EventIndex| {
        let access = ctp.event(at).kind.access()?;
        let touched = access.targets.iter().filter(|target| happened(ctp, target.when)).flat_map(|target| {
            let reads = target.reads.iter().map(|&read| ctp.read(read).location);
            reads.chain(target.writes.iter().map(|write| write.location))
        });
        let mut touched: Vec<LocationId> = touched.collect();
        touched.dedup();
        match touched[..] {
            [location] if u64::from(ctp.location(location).bytes) == access.bytes => Some(location),
            _ => None,
        }
    };
    let [a, b, c] = accesses.map(location);
    (a == b && b == c).then_some(a).flatten()
}

struct Looks {
    location: LocationId,
    variable: Variable,
    accesses: [EventIndex; 3],
    /// What each access did, by what it found: an index into the contents of the location.
    done: FxHashMap<(usize, u32), Option<Access3>>,
}

impl Looks {
    /// What access `n` does if it finds this; `None` if nobody knows.
    fn access(&mut self, builder: &Builder<'_>, n: usize, found: u32) -> Option<Access3> {
        let (ctp, at) = (builder.ctp, self.accesses[n]);
        let contents = builder.contents.of(self.location);
        *self.done.entry((n, found)).or_insert_with(|| {
            let before = contents.get(found as usize)?.value?;
            let recorded = recorded_reads(ctp, at);
            let kind = &ctp.event(at).kind;
            let kind = match kind {
                Kind::CompareExchange { equal, .. } => match with_read(ctp, at, *equal, before)? {
                    1 => AccessKind::Update,
                    _ => AccessKind::Read,
                },
                kind => kind.access_kind()?,
            };
            let after = if kind.writes() { new_value(ctp, at, before)? } else { before };
            let as_recorded = recorded.iter().all(|&(_, value)| value == before);
            Some(Access3 { before, after, kind, as_recorded })
        })
    }

    /// Replaces the ways of an access: one for each content that it may find, and for each that the access before it has found.
    fn ways(
        &mut self,
        builder: &mut Builder<'_>,
        n: usize,
        place: (ThreadNumber, usize),
        earlier: Option<Variable>,
        remember: Option<Variable>,
    ) {
        let others: Vec<Condition> = {
            // What the access needs besides what is in memory.
            let way = builder.ways_of(place).first();
            let needs = way.map_or(&[][..], |way| &way.needs).iter().copied();
            needs.filter(|need| !matches!(need, Condition::Is(of, _) | Condition::IsNot(of, _) if *of == self.variable)).collect()
        };
        let at = self.accesses[n];
        // What another value makes an update write may be new to the location.
        let known = builder.contents.of(self.location).len() as u32;
        let mut ways = vec![];
        for found in 0..known {
            let access = self.access(builder, n, found);
            let reads = !recorded_reads(builder.ctp, at).is_empty();
            let as_recorded = match access {
                Some(access) => access.as_recorded,
                None => !reads,
            };
            // e1's thread must go on.
            if n == 0 && !as_recorded {
                continue;
            }
            let mut does = match access {
                Some(access) if access.kind.writes() && !as_recorded => {
                    let content =
                        Content { writer: Some(builder.ctp.event(at).id), value: Some(access.after) };
                    vec![Effect::Set(self.variable, builder.contents.add(self.location, content))]
                }
                Some(access) if access.kind.writes() => builder.writes(at, Some(access.after)),
                Some(_) => vec![],
                None => builder.writes(at, None),
            };
            does.extend(remember.map(|variable| Effect::Set(variable, found)));
            let way = Way {
                needs: others.iter().copied().chain([Condition::Is(self.variable, found)]).collect(),
                does,
                is_last: !as_recorded,
                wakes: None,
            };
            let Some(earlier) = earlier else {
                ways.push(way);
                continue;
            };
            for before in 0..known {
                if self.is_violation(builder, n, before, found) {
                    let mut way = way.clone();
                    way.needs.push(Condition::Is(earlier, before));
                    ways.push(way);
                }
            }
        }
        *builder.ways_of(place) = ways;
    }

    /// Whether access `n`, finding this, and the one before it, which found that, are not guarded independent.
    fn is_violation(&mut self, builder: &Builder<'_>, n: usize, before: u32, found: u32) -> bool {
        let first = self.access(builder, n - 1, before);
        let (Some(first), Some(second)) = (first, self.access(builder, n, found)) else { return true };
        let ctp = builder.ctp;
        // e1 came out as recorded, or its thread would not have gone on.
        let kind = ctp.event(self.accesses[0]).kind.access_kind();
        if n == 2 && !kind.is_some_and(|e1| is_unserializable(e1, first.kind, second.kind)) {
            return false;
        }
        let decide = |n: usize, value: u128| decided(ctp, self.accesses[n], value);
        // x is the value before the first of the two.
        let x = first.before;
        let same = |reader: usize, written: u128| {
            x == written || decide(reader, x).is_some_and(|outcome| decide(reader, written) == Some(outcome))
        };
        let (one, other) = (first.kind, second.kind);
        let read_write = !(one.reads() && other.writes()) || same(n - 1, second.after);
        let write_read = !(one.writes() && other.reads()) || same(n, first.after);
        let write_write = !(one.writes() && other.writes()) || first.after == second.after;
        !(read_write && write_read && write_write)
    }
}

/// What an access leaves if it finds this.
fn new_value(ctp: &Ctp, at: EventIndex, found: u128) -> Option<u128> {
    let access: &Access = ctp.event(at).kind.access()?;
    let written = recorded_writes(ctp, at);
    // A compare-and-exchange that failed has a write that did not happen.
    let all = access.targets.iter().filter(|target| happened(ctp, target.when)).flat_map(|t| &t.writes);
    let write = written.first().copied().or(all.into_iter().next())?;
    with_read(ctp, at, write.value, found)
}

/// The value of an expression if the access's own read had this value, and all others the recorded ones.
fn with_read(ctp: &Ctp, at: EventIndex, root: ExprId, found: u128) -> Option<u128> {
    if !ctp.expressions.is_symbolic(root) {
        return ctp.expressions.recorded(root);
    }
    ctp.expressions.evaluate(root, |read| {
        let read = ctp.read(read);
        Some(if read.event == at { found } else { read.recorded })
    })
}

/// What a read that only decides decides (AV §3, rule 4c) if it sees this.
fn decided(ctp: &Ctp, at: EventIndex, value: u128) -> Option<u128> {
    let decision = ctp.event(at).kind.access()?.decision?;
    let expressions = &ctp.expressions;
    let mut values: FxHashMap<ExprId, Option<u128>> = FxHashMap::default();
    for id in expressions.reachable([decision.outcome, decision.defined]) {
        let here = match expressions.get(id) {
            Expr::Hole => Some(value),
            Expr::Read(read) => Some(ctp.read(read).recorded),
            expr => expressions
                .value_of(expr, expressions.width(id), |operand| values.get(&operand).copied().flatten()),
        };
        values.insert(id, here);
    }
    let of = |root: ExprId| values.get(&root).copied().flatten();
    (of(decision.defined) == Some(1)).then(|| of(decision.outcome)).flatten()
}
