//! A recording: what formats of traces have in common.

use rustc_hash::FxHashMap;
use std::fmt;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);

        impl From<u32> for $name {
            fn from(number: u32) -> $name {
                $name(number)
            }
        }

        impl From<$name> for usize {
            fn from(of: $name) -> usize {
                of.0 as usize
            }
        }
    };
}

number!(
    /// A thread of a recording.
    ThreadNumber
);
number!(
    /// A variable: any piece of memory that has a name of its own.
    VariableId
);
number!(
    /// A lock.
    LockId
);
number!(
    /// A place of the source.
    PlaceId
);

/// What a thread did.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operation {
    /// It read a variable.
    Read {
        /// Which.
        variable: VariableId,
        /// As an atomic or volatile one, which synchronises.
        atomic: bool,
    },
    /// It wrote a variable.
    Write {
        /// Which.
        variable: VariableId,
        /// As an atomic or volatile one.
        atomic: bool,
    },
    /// It read and wrote an atomic variable at once.
    Update(VariableId),
    /// It took a lock, once more if it has it already.
    Acquire(LockId),
    /// It gave a lock back, as often as it has taken it but once.
    Release(LockId),
    /// It started a thread.
    Fork(ThreadNumber),
    /// It waited for the end of a thread.
    Join(ThreadNumber),
    /// A block begins that is meant to be atomic.
    Begin,
    /// It ends.
    End,
}

/// One event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// Who.
    pub thread: ThreadNumber,
    /// What.
    pub operation: Operation,
    /// Where in the source, if that is known.
    pub place: Option<PlaceId>,
    /// Which line of the file says so, counted from 1.
    pub line: u32,
}

/// Names of one kind of things, each with its number.
#[derive(Clone)]
pub struct Names<I> {
    all: Vec<Box<str>>,
    numbers: FxHashMap<Box<str>, u32>,
    of: std::marker::PhantomData<I>,
}

impl<I: From<u32> + Into<usize> + Copy> Names<I> {
    /// The number of a name, a new one if it is new.
    pub fn number(&mut self, name: &str) -> I {
        if let Some(&known) = self.numbers.get(name) {
            return known.into();
        }
        let number = self.all.len() as u32;
        self.all.push(name.into());
        self.numbers.insert(name.into(), number);
        number.into()
    }

    /// The number of a name, if it has one.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<I> {
        self.numbers.get(name).map(|&number| number.into())
    }

    /// What something is called.
    ///
    /// # Panics
    /// If the number is another recording's.
    #[must_use]
    pub fn name(&self, of: I) -> &str {
        &self.all[of.into()]
    }

    /// All of them, by number.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.all.iter().map(|name| &**name)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

impl<I> Default for Names<I> {
    fn default() -> Names<I> {
        Names { all: vec![], numbers: FxHashMap::default(), of: std::marker::PhantomData }
    }
}

impl<I> fmt::Debug for Names<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.all).finish()
    }
}

/// A run as another tool recorded it.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// What its threads are called.
    pub threads: Names<ThreadNumber>,
    /// What its variables are called.
    pub variables: Names<VariableId>,
    /// What its locks are called.
    pub locks: Names<LockId>,
    /// What the places of the source are called.
    pub places: Names<PlaceId>,
    /// Its events, in their total order.
    pub records: Vec<Record>,
}

impl Recording {
    /// The same for formats that have no atomic accesses: each of them, and each update, is under a lock of its variable, as RAPID has
    /// it.
    #[must_use]
    pub fn with_locks_for_atomics(&self) -> Recording {
        let mut lowered = Recording { records: vec![], ..self.clone() };
        let mut locks: FxHashMap<VariableId, LockId> = FxHashMap::default();
        for record in &self.records {
            let (variable, accesses): (_, &[Access]) = match record.operation {
                Operation::Read { variable, atomic: true } => (variable, &[read]),
                Operation::Write { variable, atomic: true } => (variable, &[write]),
                Operation::Update(variable) => (variable, &[read, write]),
                _ => {
                    lowered.records.push(*record);
                    continue;
                }
            };
            let lock = *locks.entry(variable).or_insert_with(|| {
                let mut name = format!("atomic({})", self.variables.name(variable));
                while lowered.locks.find(&name).is_some() {
                    name.push('\'');
                }
                lowered.locks.number(&name)
            });
            let inside = accesses.iter().map(|access| access(variable));
            let all = [Operation::Acquire(lock)].into_iter().chain(inside).chain([Operation::Release(lock)]);
            lowered.records.extend(all.map(|operation| Record { operation, ..*record }));
        }
        lowered
    }
}

/// Makes an access of a variable.
type Access = fn(VariableId) -> Operation;

fn read(variable: VariableId) -> Operation {
    Operation::Read { variable, atomic: false }
}

fn write(variable: VariableId) -> Operation {
    Operation::Write { variable, atomic: false }
}
