//! What an address may be (AV §3 rules 2 and 3): the values that expressions can have over all that could be read.
//!
//! A read may see the initial value of its location and whatever any event writes there. The sets that follow from this are a
//! least fixed point; one that grows too large is *anything*. Of an address `base + stride · anything` the base is enough: it
//! can be each element of what the base points into. All is over-approximation: which address it is in which schedule, the
//! solver says. An address with too many targets is pinned.

use crate::expression::Expr;
use crate::space::Space;
use crate::walk::{Aim, Request, Walk};
use crate::{ExprId, LocationId, PinReason};
use ir::{BinaryOp, Width, eval};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Most values in a set.
const MOST_VALUES: usize = 64;

/// What a value may be.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Values {
    Some(BTreeSet<u128>),
    Anything,
}

impl Values {
    fn none() -> Values {
        Values::Some(BTreeSet::new())
    }

    fn one(value: u128) -> Values {
        Values::Some(BTreeSet::from([value]))
    }

    fn join(&mut self, other: &Values) -> bool {
        match (&mut *self, other) {
            (Values::Anything, _) => false,
            (_, Values::Anything) => {
                *self = Values::Anything;
                true
            }
            (Values::Some(set), Values::Some(more)) => {
                let before = set.len();
                set.extend(more);
                let grown = set.len() > before;
                if set.len() > MOST_VALUES {
                    *self = Values::Anything;
                }
                grown
            }
        }
    }

    fn range(from: i128, to: i128, width: Width) -> Values {
        match usize::try_from(to - from) {
            Ok(0..MOST_VALUES) => Values::Some((from..=to).map(|value| eval::cut(width, value)).collect()),
            _ => Values::Anything,
        }
    }
}

/// The targets of all accesses that ask for them.
pub fn aims(walk: &Walk<'_>, max_targets: usize) -> Vec<(Request, Aim)> {
    let mut sets = Sets {
        walk,
        exprs: FxHashMap::default(),
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
    exprs: FxHashMap<ExprId, Values>,
    locations: FxHashMap<LocationId, Values>,
    /// The values that are written to the locations that matter.
    writes: FxHashMap<LocationId, Vec<ExprId>>,
}

impl Sets<'_, '_> {
    /// The least fixed point for all that the requested addresses depend on.
    fn solve(&mut self) {
        let expressions = &self.walk.expressions;
        let mut written: FxHashMap<LocationId, Vec<ExprId>> = FxHashMap::default();
        for event in &self.walk.events {
            let Some(access) = event.kind.access() else { continue };
            for write in access.targets.iter().flat_map(|target| &target.writes) {
                written.entry(write.location).or_default().push(write.value);
            }
        }
        // What is needed, through memory.
        let mut needed: FxHashSet<ExprId> = FxHashSet::default();
        let mut work: Vec<ExprId> = self.walk.requests.iter().map(|request| request.address).collect();
        while let Some(root) = work.pop() {
            if needed.contains(&root) {
                continue;
            }
            for id in expressions.reachable([root]) {
                if needed.insert(id)
                    && let Expr::Read(read) = expressions.get(id)
                {
                    let location = self.walk.reads[read.index()].location;
                    if let std::collections::hash_map::Entry::Vacant(entry) = self.writes.entry(location) {
                        let mut values = written.remove(&location).unwrap_or_default();
                        values.sort_unstable();
                        values.dedup();
                        work.extend(&values);
                        entry.insert(values);
                        let initial = self.walk.initial[location.index()];
                        self.locations.insert(location, initial.map_or(Values::none(), Values::one));
                    }
                }
            }
        }
        let mut order: Vec<ExprId> = needed.into_iter().collect();
        order.sort_unstable();
        let mut changed = true;
        while changed {
            changed = false;
            for &id in &order {
                let values = self.values(id);
                changed |= self.exprs.get(&id) != Some(&values);
                self.exprs.insert(id, values);
            }
            for (location, writes) in &self.writes {
                let Some(held) = self.locations.get_mut(location) else { continue };
                for write in writes {
                    if let Some(values) = self.exprs.get(write) {
                        changed |= held.join(values);
                    }
                }
            }
        }
    }

    fn of(&self, id: ExprId) -> Values {
        self.exprs.get(&id).cloned().unwrap_or_else(Values::none)
    }

    fn values(&self, id: ExprId) -> Values {
        let expressions = &self.walk.expressions;
        let width = expressions.width(id);
        match expressions.get(id) {
            Expr::Const(bits) => Values::one(bits),
            Expr::Read(read) => {
                let read = &self.walk.reads[read.index()];
                let mut values = self.locations.get(&read.location).cloned().unwrap_or_else(Values::none);
                if read.when.is_some() {
                    values.join(&Values::one(0));
                }
                values
            }
            Expr::Hole | Expr::Unknown => Values::Anything,
            Expr::Binary(op, a, b) => {
                let (x, y) = (self.of(a), self.of(b));
                match (op, expressions.constant(b)) {
                    (BinaryOp::And, Some(mask)) if x == Values::Anything && mask.count_ones() <= 5 => {
                        submasks(mask)
                    }
                    (BinaryOp::URem, Some(by @ 1..)) if x == Values::Anything => {
                        Values::range(0, by as i128 - 1, width)
                    }
                    (BinaryOp::SRem, Some(by @ 1..)) if x == Values::Anything => {
                        let most = eval::signed(width, by).unsigned_abs() as i128 - 1;
                        Values::range(-most, most, width)
                    }
                    _ => product(&x, &y, |x, y| eval::binary(op, width, x, y)),
                }
            }
            Expr::Compare(predicate, a, b) => {
                let of = expressions.width(a);
                match product(&self.of(a), &self.of(b), |x, y| {
                    Some(u128::from(eval::compare(predicate, of, x, y)))
                }) {
                    Values::Anything => Values::Some(BTreeSet::from([0, 1])),
                    values => values,
                }
            }
            Expr::Zext(a) => self.each(a, |x| x),
            Expr::Sext(a) => {
                let from = expressions.width(a);
                self.each(a, |x| eval::cut(width, eval::signed(from, x)))
            }
            Expr::Extract { value, low } => self.each(value, |x| (x >> low) & width.mask()),
            Expr::Concat { high, low } => {
                let bits = expressions.width(low).bits();
                product(&self.of(high), &self.of(low), |x, y| Some(x << bits | y))
            }
            Expr::Select { condition, then, otherwise } => {
                let mut values = Values::none();
                let Values::Some(conditions) = self.of(condition) else { return Values::Anything };
                for condition in conditions {
                    values.join(&self.of(if condition == 1 { then } else { otherwise }));
                }
                values
            }
        }
    }

    fn each(&self, of: ExprId, f: impl Fn(u128) -> u128) -> Values {
        match self.of(of) {
            Values::Some(set) => Values::Some(set.into_iter().map(f).collect()),
            Values::Anything => Values::Anything,
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
                found.extend(set.into_iter().map(|value| value as u64).filter(|&address| fits(address)));
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
    fn elements(&self, id: ExprId) -> Option<(BTreeSet<u128>, u64)> {
        let expressions = &self.walk.expressions;
        let width = expressions.width(id);
        if let Values::Some(set) = self.of(id) {
            return Some((set, 0));
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
            _ if width.bits() <= 64 => Some((BTreeSet::from([0]), 1)),
            _ => None,
        }
        .filter(|&(_, stride)| stride > 0 && i64::try_from(stride).is_ok())
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn submasks(mask: u128) -> Values {
    let mut set = BTreeSet::new();
    let mut sub = mask;
    loop {
        set.insert(sub);
        if sub == 0 {
            return Values::Some(set);
        }
        sub = (sub - 1) & mask;
    }
}

/// What two values can give; results that are not defined are left out.
fn product(a: &Values, b: &Values, f: impl Fn(u128, u128) -> Option<u128>) -> Values {
    let (Values::Some(a), Values::Some(b)) = (a, b) else { return Values::Anything };
    if a.len().saturating_mul(b.len()) > MOST_VALUES * MOST_VALUES {
        return Values::Anything;
    }
    let set: BTreeSet<u128> = a
        .iter()
        .flat_map(|&x| b.iter().filter_map(move |&y| Some((x, y))))
        .filter_map(|(x, y)| f(x, y))
        .collect();
    if set.len() > MOST_VALUES { Values::Anything } else { Values::Some(set) }
}
