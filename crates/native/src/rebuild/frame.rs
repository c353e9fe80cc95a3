//! An activation of a function.

use super::memory::Cell;
use super::value::{Reason, Value};
use ir::{BlockId, FunctionId, GlobalId, Program, SiteId};
use rustc_hash::FxHashMap;

/// Where an activation stands with its next instruction.
#[derive(Clone, Debug)]
pub enum State {
    /// Nothing has been done yet: entry and stack memory may be logged.
    Fresh,
    /// So many parameters have come.
    Entering(usize),
    /// Before the instruction.
    Before,
    /// The instruction's first units have come.
    Units(Vec<u64>),
    /// The read half of a copy has come.
    Copying(Box<[u8]>, bool),
    /// In a call of a function of the program, whose activation is above.
    InCall,
    /// That call has returned; its result may be logged.
    Returned,
    /// In a call whose result is logged. If it was a function of the program, what that returned.
    Waiting(Option<Value>),
}

/// An activation.
pub struct Frame {
    pub function: FunctionId,
    pub block: BlockId,
    pub instruction: usize,
    /// The site of the block's first instruction.
    pub first: u32,
    pub state: State,
    pub values: Vec<Value>,
    /// Stack memory whose address came at the start, by site.
    pub stack: Vec<(SiteId, u64)>,
    /// Memory that the log does not see.
    pub cells: FxHashMap<u64, Cell>,
    /// A function of the program that a call through an address is known to go to.
    pub target: Option<FunctionId>,
}

impl Frame {
    /// An activation before its first instruction, no value known.
    pub fn new(program: &Program, function: FunctionId, first: u32, unknown: Reason) -> Frame {
        Frame {
            function,
            block: BlockId(0),
            instruction: 0,
            first,
            state: State::Fresh,
            values: vec![Value::unknown(unknown); program.function(function).values.len()],
            stack: vec![],
            cells: FxHashMap::default(),
            target: None,
        }
    }

    /// The site of the next instruction.
    pub fn site(&self) -> SiteId {
        SiteId(self.first + self.instruction as u32)
    }
}

/// A thread: its activations, the running one last, and where its own copies of globals are.
#[derive(Default)]
pub struct Thread {
    pub frames: Vec<Frame>,
    pub own_globals: FxHashMap<GlobalId, u64>,
}
