//! Sets of values: a few numbers, or anything.

use ir::{Width, eval};
use std::collections::BTreeSet;

/// Most values in a set.
const MOST_VALUES: usize = 64;
/// What a value may be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Values {
    Some(BTreeSet<u128>),
    Anything,
}

/// What an expression may be that nothing is known to reach yet.
pub static NOTHING: Values = Values::Some(BTreeSet::new());

impl Values {
    pub fn none() -> Values {
        Values::Some(BTreeSet::new())
    }

    pub fn one(value: u128) -> Values {
        Values::Some(BTreeSet::from([value]))
    }

    pub fn join(&mut self, other: &Values) -> bool {
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

    pub fn range(from: i128, to: i128, width: Width) -> Values {
        match usize::try_from(to - from) {
            Ok(0..MOST_VALUES) => Values::Some((from..=to).map(|value| eval::cut(width, value)).collect()),
            _ => Values::Anything,
        }
    }
}

/// All numbers whose bits are among those of a mask.
pub fn submasks(mask: u128) -> Values {
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
pub fn product(a: &Values, b: &Values, f: impl Fn(u128, u128) -> Option<u128>) -> Values {
    let (Values::Some(a), Values::Some(b)) = (a, b) else { return Values::Anything };
    if a.len().saturating_mul(b.len()) > MOST_VALUES * MOST_VALUES {
        return Values::Anything;
    }
    let set: BTreeSet<u128> =
        a.iter().flat_map(|&x| b.iter().map(move |&y| (x, y))).filter_map(|(x, y)| f(x, y)).collect();
    if set.len() > MOST_VALUES { Values::Anything } else { Values::Some(set) }
}
