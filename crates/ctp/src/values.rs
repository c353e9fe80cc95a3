//! What an address may be (AV §3 rules 2 and 3): the values that expressions can have over all that could be read.
//!
//! A read may see the initial value of its location and whatever any event writes there. The sets that follow from this are a
//! least fixed point; one that grows too large is *anything*. Of an address `base + stride · anything` the base is enough: it
//! can be each element of what the base points into. All is over-approximation: which address it is in which schedule, the
//! solver says. An address with too many targets is pinned.
//!
//! Reads of one location may all see the same, so expressions that differ only in which read of a location they are about have the
//! same set. They are made one before anything is computed: a loop that ran a million times is then as small as its code.

use crate::expression::Expr;
use crate::space::Space;
use crate::value_set::{MOST_VALUES, NOTHING, Values, product, submasks};
use crate::walk::{Aim, Request, Walk};
use crate::{ExprId, LocationId, PinReason};
use ir::{BinaryOp, Width, eval};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// A location whose set has grown so often holds anything, where there are many writes: counters would grow for long.
const MOST_GROWTHS: u32 = 12;

/// The targets of all accesses that ask for them.
pub fn aims(walk: &Walk<'_>, max_targets: usize) -> Vec<(Request, Aim)> {
    let mut sets = Sets {
        walk,
        classes: FxHashMap::default(),
        nodes: vec![],
        values: vec![],
        locations: FxHashMap::default(),
        writes: FxHashMap::default(),
    };
    sets.solve();
    let aims = walk.requests.iter().map(|request| {
        let aim = match sets.targets(&walk.space, request, max_targets) {
            Ok(targets) => Aim::At(targets),
            Err(why) => Aim::Pinned(why),
        };
        (request.clone(), aim)
    });
    aims.collect()
}

struct Sets<'a, 'w> {
    walk: &'a Walk<'w>,
    /// For each expression that matters the number of those that have the same set.
    classes: FxHashMap<ExprId, u32>,
    nodes: Vec<Node>,
    values: Vec<Values>,
    locations: FxHashMap<LocationId, Values>,
    /// What is written to the locations that matter.
    writes: FxHashMap<LocationId, Vec<ExprId>>,
}

/// Expressions that have the same set: one of them, with the classes of its operands in place of these.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Node {
    expr: Expr,
    width: Width,
    /// For a read: of which location, and whether it may not happen.
    read: Option<(LocationId, bool)>,
}

impl Sets<'_, '_> {
    /// The least fixed point for all that the requested addresses depend on, or what comes before it: in a run each event happens once at
    /// most, so the value of the n-th write follows in n rounds, and after as many rounds as there are writes no schedule has more.
    fn solve(&mut self) {
        let order = self.needed();
        self.classify(&order);
        let most_rounds: usize = self.writes.values().map(Vec::len).sum();
        let most_growths = if most_rounds <= MOST_VALUES { u32::MAX } else { MOST_GROWTHS };
        let mut written: FxHashMap<LocationId, Vec<u32>> = FxHashMap::default();
        for (&location, writes) in &self.writes {
            let mut classes: Vec<u32> =
                writes.iter().filter_map(|id| self.classes.get(id).copied()).collect();
            classes.sort_unstable();
            classes.dedup();
            written.insert(location, classes);
        }
        let mut growths: FxHashMap<LocationId, u32> = FxHashMap::default();
        for n in 0..self.nodes.len() {
            self.values[n] = self.compute(self.nodes[n]);
        }
        let mut changed = vec![true; self.nodes.len()];
        for _ in 0..most_rounds {
            let mut grown: FxHashSet<LocationId> = FxHashSet::default();
            for (location, writes) in &written {
                let Some(held) = self.locations.get_mut(location) else { continue };
                let mut more = false;
                for &write in writes.iter().filter(|&&write| changed[write as usize]) {
                    more |= held.join(&self.values[write as usize]);
                }
                if more {
                    let times = growths.entry(*location).or_default();
                    *times += 1;
                    if *times > most_growths {
                        *held = Values::Anything;
                    }
                    grown.insert(*location);
                }
            }
            // Expressions follow from what locations hold: when those stand still, all does.
            if grown.is_empty() {
                return;
            }
            for n in 0..self.nodes.len() {
                let node = self.nodes[n];
                // Operands come before what is made of them.
                let may_change = match node.read {
                    Some((location, _)) => grown.contains(&location),
                    None => node.expr.operands().any(|operand| changed[operand.index()]),
                };
                changed[n] = false;
                if may_change {
                    let values = self.compute(node);
                    changed[n] = values != self.values[n];
                    self.values[n] = values;
                }
            }
        }
    }

    /// All expressions that the requested addresses depend on, through memory too, each after its operands.
    fn needed(&mut self) -> Vec<ExprId> {
        let expressions = &self.walk.expressions;
        let mut written: FxHashMap<LocationId, Vec<ExprId>> = FxHashMap::default();
        for event in &self.walk.events {
            let Some(access) = event.kind.access() else { continue };
            for write in access.targets.iter().flat_map(|target| &target.writes) {
                written.entry(write.location).or_default().push(write.value);
            }
        }
        let mut needed: FxHashSet<ExprId> = FxHashSet::default();
        let mut work: Vec<ExprId> = self.walk.requests.iter().map(|request| request.address).collect();
        while let Some(id) = work.pop() {
            if !needed.insert(id) {
                continue;
            }
            work.extend(expressions.get(id).operands());
            if let Expr::Read(read) = expressions.get(id) {
                let location = self.walk.reads[read.index()].location;
                if let std::collections::hash_map::Entry::Vacant(entry) = self.writes.entry(location) {
                    let values = written.remove(&location).unwrap_or_default();
                    work.extend(&values);
                    entry.insert(values);
                    let initial = self.walk.initial[location.index()];
                    self.locations.insert(location, initial.map_or(Values::none(), Values::one));
                }
            }
        }
        let mut order: Vec<ExprId> = needed.into_iter().collect();
        order.sort_unstable();
        order
    }

    /// Makes expressions one that differ only in which read of a location they are about.
    fn classify(&mut self, order: &[ExprId]) {
        let expressions = &self.walk.expressions;
        let mut known: FxHashMap<Node, u32> = FxHashMap::default();
        for &id in order {
            let class = |id: ExprId| ExprId(self.classes.get(&id).copied().unwrap_or(0));
            let mut read = None;
            let expr = match expressions.get(id) {
                Expr::Read(of) => {
                    let of = &self.walk.reads[of.index()];
                    read = Some((of.location, of.when.is_some()));
                    Expr::Hole
                }
                Expr::Binary(op, a, b) => Expr::Binary(op, class(a), class(b)),
                Expr::Compare(predicate, a, b) => Expr::Compare(predicate, class(a), class(b)),
                Expr::Zext(a) => Expr::Zext(class(a)),
                Expr::Sext(a) => Expr::Sext(class(a)),
                Expr::Extract { value, low } => Expr::Extract { value: class(value), low },
                Expr::Concat { high, low } => Expr::Concat { high: class(high), low: class(low) },
                Expr::Select { condition, then, otherwise } => {
                    let (condition, then, otherwise) = (class(condition), class(then), class(otherwise));
                    Expr::Select { condition, then, otherwise }
                }
                leaf @ (Expr::Const(_) | Expr::Hole | Expr::Unknown | Expr::Any(_)) => leaf,
            };
            let node = Node { expr, width: expressions.width(id), read };
            let next = self.nodes.len() as u32;
            let class = *known.entry(node).or_insert(next);
            if class == next {
                self.nodes.push(node);
                self.values.push(Values::none());
            }
            self.classes.insert(id, class);
        }
    }

    /// What an expression may be.
    fn of(&self, id: ExprId) -> &Values {
        self.classes.get(&id).map_or(&NOTHING, |&class| &self.values[class as usize])
    }

    /// The set of a class, given those of its operands.
    fn compute(&self, node: Node) -> Values {
        let width = node.width;
        let at = |class: ExprId| &self.values[class.index()];
        let width_at = |class: ExprId| self.nodes[class.index()].width;
        let each = |of: ExprId, f: &dyn Fn(u128) -> u128| match at(of) {
            Values::Some(set) => Values::of(set.iter().map(|&value| f(value)).collect()),
            Values::Anything => Values::Anything,
        };
        if let Some((location, may_not_happen)) = node.read {
            let mut values = self.locations.get(&location).cloned().unwrap_or_else(Values::none);
            if may_not_happen {
                values.join(&Values::one(0));
            }
            return values;
        }
        match node.expr {
            Expr::Const(bits) => Values::one(bits),
            Expr::Read(_) | Expr::Hole | Expr::Unknown | Expr::Any(_) => Values::Anything,
            Expr::Binary(op, a, b) => {
                let (x, y) = (at(a), at(b));
                let constant = match self.nodes[b.index()].expr {
                    Expr::Const(bits) => Some(bits),
                    _ => None,
                };
                match (op, constant) {
                    (BinaryOp::And, Some(mask)) if *x == Values::Anything && mask.count_ones() < 6 => {
                        submasks(mask)
                    }
                    (BinaryOp::URem, Some(by @ 1..)) if *x == Values::Anything => {
                        Values::range(0, by as i128 - 1, width)
                    }
                    (BinaryOp::SRem, Some(by @ 1..)) if *x == Values::Anything => {
                        let most = eval::signed(width, by).unsigned_abs() as i128 - 1;
                        Values::range(-most, most, width)
                    }
                    _ => product(x, y, |x, y| eval::binary(op, width, x, y)),
                }
            }
            Expr::Compare(predicate, a, b) => {
                let of = width_at(a);
                let holds = |x, y| Some(u128::from(eval::compare(predicate, of, x, y)));
                match product(at(a), at(b), holds) {
                    Values::Anything => Values::of(vec![0, 1]),
                    values => values,
                }
            }
            Expr::Zext(a) => each(a, &|x| x),
            Expr::Sext(a) => {
                let from = width_at(a);
                each(a, &|x| eval::cut(width, eval::signed(from, x)))
            }
            Expr::Extract { value, low } => each(value, &|x| (x >> low) & width.mask()),
            Expr::Concat { high, low } => {
                let bits = width_at(low).bits();
                product(at(high), at(low), |x, y| Some(x << bits | y))
            }
            Expr::Select { condition, then, otherwise } => {
                let mut values = Values::none();
                let Values::Some(conditions) = at(condition) else { return Values::Anything };
                for &condition in conditions {
                    values.join(at(if condition == 1 { then } else { otherwise }));
                }
                values
            }
        }
    }

    /// The addresses of a request, the recorded one first.
    fn targets(&self, space: &Space<'_>, request: &Request, most: usize) -> Result<Vec<u64>, PinReason> {
        let fits = |address: u64| {
            let place = space.place(address, request.bytes);
            place.is_some_and(|place| space.is_plain(place.allocation, request.write))
        };
        let mut found: BTreeSet<u64> = BTreeSet::new();
        match self.of(request.address) {
            Values::Some(set) => {
                found.extend(set.iter().map(|&value| value as u64).filter(|&address| fits(address)));
            }
            Values::Anything => {
                let Some((bases, stride)) = self.elements(request.address) else {
                    return Err(PinReason::UnknownAddress);
                };
                for base in bases {
                    let base = base as u64;
                    // An index that the recorded run has leads from the base to the recorded address.
                    let same = request.recorded.wrapping_sub(base) as i64 % stride as i64 == 0;
                    let place = space.place(base, 1).or(match same {
                        true => space.place(request.recorded, request.bytes),
                        false => None,
                    });
                    let Some(place) = place else { continue };
                    let Some(start) = space.address(trace::Location { offset: 0, ..place }) else { continue };
                    let end = start + space.bytes(place.allocation);
                    let first = start + (base.wrapping_sub(start) as i64).rem_euclid(stride as i64) as u64;
                    for n in 0..=most as u64 {
                        let Some(address) = n.checked_mul(stride).and_then(|by| first.checked_add(by)) else {
                            break;
                        };
                        if address >= end {
                            break;
                        }
                        if fits(address) {
                            found.insert(address);
                        }
                    }
                }
            }
        }
        found.remove(&request.recorded);
        if found.len() + 1 > most {
            return Err(PinReason::Address { targets: found.len() as u64 + 1 });
        }
        Ok([request.recorded].into_iter().chain(found).collect())
    }

    /// An address as one of some bases plus any multiple of a stride.
    fn elements(&self, id: ExprId) -> Option<(Vec<u128>, u64)> {
        let expressions = &self.walk.expressions;
        let width = expressions.width(id);
        if let Values::Some(set) = self.of(id) {
            return Some((set.clone(), 0));
        }
        match expressions.get(id) {
            Expr::Binary(BinaryOp::Add, a, b) => {
                let ((x, s), (y, r)) = (self.elements(a)?, self.elements(b)?);
                let Values::Some(bases) = product(&Values::Some(x), &Values::Some(y), |x, y| {
                    eval::binary(BinaryOp::Add, width, x, y)
                }) else {
                    return None;
                };
                Some((bases, gcd(s, r)))
            }
            Expr::Binary(BinaryOp::Mul, a, b) => {
                let by = expressions.constant(b)?;
                let (x, s) = self.elements(a)?;
                let bases = x.into_iter().map(|x| x.wrapping_mul(by) & width.mask()).collect();
                Some((bases, s.checked_mul(eval::signed(width, by).unsigned_abs().try_into().ok()?)?))
            }
            Expr::Binary(BinaryOp::Shl, a, b) => {
                let by = u32::try_from(expressions.constant(b)?).ok().filter(|&by| by < 32)?;
                let (x, s) = self.elements(a)?;
                Some((x.into_iter().map(|x| (x << by) & width.mask()).collect(), s.checked_shl(by)?))
            }
            // Anything else may be anything.
            _ if width.bits() <= 64 => Some((vec![0], 1)),
            _ => None,
        }
        .filter(|&(_, stride)| stride > 0 && i64::try_from(stride).is_ok())
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
