//! Values on the walk: what they are, and what they depend on.

use ir::{Type, Width};
use rustc_hash::FxHashMap;

/// Why a value could not be computed or expressed; 0 is none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Reason(u16);

impl Reason {
    /// No reason.
    pub const NONE: Reason = Reason(0);
}

/// The reasons in words.
#[derive(Default)]
pub struct Reasons {
    words: Vec<String>,
    known: FxHashMap<String, Reason>,
}

impl Reasons {
    /// The reason with these words.
    pub fn get(&mut self, words: &str) -> Reason {
        if let Some(&reason) = self.known.get(words) {
            return reason;
        }
        // More reasons than there is room for are one: nobody reads that many.
        if self.words.len() >= usize::from(u16::MAX) - 1 {
            return Reason(u16::MAX);
        }
        self.words.push(words.to_owned());
        let reason = Reason(self.words.len() as u16);
        self.known.insert(words.to_owned(), reason);
        reason
    }

    /// The words of a reason.
    pub fn words(&self, reason: Reason) -> &str {
        let at = usize::from(reason.0).checked_sub(1);
        at.and_then(|at| self.words.get(at)).map_or("other reasons", |words| words)
    }
}

/// A value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Value {
    /// Its bits, if they are known; 0 otherwise.
    pub bits: u128,
    /// Whether they are.
    pub known: bool,
    /// Whether it depends on memory that threads share.
    pub shared: bool,
    /// Through what it came that cannot be expressed.
    pub pin: Reason,
}

impl Value {
    /// A value that depends on nothing.
    pub fn plain(bits: u128) -> Value {
        Value { bits, known: true, shared: false, pin: Reason::NONE }
    }

    /// A value that is not known.
    pub fn unknown(pin: Reason) -> Value {
        Value { bits: 0, known: false, shared: false, pin }
    }

    /// This value, depending on another one too.
    pub fn depending(mut self, on: Value) -> Value {
        self.shared |= on.shared;
        if self.pin == Reason::NONE {
            self.pin = on.pin;
        }
        self
    }

    /// The bits as an address, if they are known.
    pub fn address(self) -> Option<u64> {
        self.known.then_some(self.bits as u64)
    }
}

/// The bits that a value of this type can have.
pub fn mask(ty: Type) -> u128 {
    match ty {
        Type::Int(width) => width.mask(),
        Type::Ptr => Width::W64.mask(),
        Type::Opaque(bytes @ 1..=15) => (1 << (8 * bytes)) - 1,
        Type::Opaque(_) => u128::MAX,
    }
}
