//! Sets of values: a few numbers, or anything.

use ir::{Width, eval};

/// Most values in a set.
pub const MOST_VALUES: usize = 64;

/// What a value may be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Values {
    /// One of these: ascending, each once.
    Some(Vec<u128>),
    Anything,
}

/// What an expression may be that nothing is known to reach yet.
pub static NOTHING: Values = Values::Some(vec![]);

impl Values {
    pub fn none() -> Values {
        Values::Some(vec![])
    }

    pub fn one(value: u128) -> Values {
        Values::Some(vec![value])
    }

    /// These, in any order.
    pub fn of(mut values: Vec<u128>) -> Values {
        values.sort_unstable();
        values.dedup();
        if values.len() > MOST_VALUES { Values::Anything } else { Values::Some(values) }
    }

    /// Adds what another one may be; whether that is more.
    pub fn join(&mut self, other: &Values) -> bool {
        match (&mut *self, other) {
            (Values::Anything, _) => false,
            (_, Values::Anything) => {
                *self = Values::Anything;
                true
            }
            (Values::Some(set), Values::Some(more)) => {
                let known = set.len();
                for value in more {
                    if set[..known].binary_search(value).is_err() {
                        set.push(*value);
                    }
                }
                let grown = set.len() > known;
                if grown {
                    *self = Values::of(std::mem::take(set));
                }
                grown
            }
        }
    }

    pub fn range(from: i128, to: i128, width: Width) -> Values {
        match usize::try_from(to - from) {
            Ok(0..MOST_VALUES) => Values::of((from..=to).map(|value| eval::cut(width, value)).collect()),
            _ => Values::Anything,
        }
    }
}

/// All numbers whose bits are among those of a mask.
pub fn submasks(mask: u128) -> Values {
    let mut set = vec![];
    let mut sub = mask;
    loop {
        set.push(sub);
        if sub == 0 {
            return Values::of(set);
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
    let pairs = a.iter().flat_map(|&x| b.iter().map(move |&y| (x, y)));
    Values::of(pairs.filter_map(|(x, y)| f(x, y)).collect())
}
