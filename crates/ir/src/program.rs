//! Programs, functions, blocks, globals, and the numbering of sites.

use crate::{
    BlockId, Callee, FileId, FunctionId, GlobalId, Instruction, Op, Shape, ShapeId, SiteId, SyncKind, SyncOp,
    Terminator, Type, ValueId,
};
use serde::{Deserialize, Serialize};

/// A name from the source or from the linker.
pub type Symbol = Box<str>;

/// A place in a source file; lines and columns count from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Position {
    /// Which file.
    pub file: FileId,
    /// Which line.
    pub line: u32,
    /// Which column, counted in characters.
    pub column: u32,
}

/// A source file, by the path that the compiler was given.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SourceFile {
    /// Its path.
    pub path: String,
}

/// A whole program.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Program {
    /// What it is called in messages.
    pub name: String,
    /// Where it comes from.
    pub files: Vec<SourceFile>,
    /// Layouts of memory; a shape refers only to shapes before it, except through pointers.
    pub shapes: Vec<Shape>,
    /// Global variables.
    pub globals: Vec<Global>,
    /// Functions.
    pub functions: Vec<Function>,
    /// The threads that exist from the start.
    pub threads: Vec<ThreadStart>,
    /// What is asked of the final state.
    pub final_condition: Option<FinalCondition>,
}

/// A global variable, or an array of synchronisation objects.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Global {
    /// Its name.
    pub name: Symbol,
    /// Its layout.
    pub shape: ShapeId,
    /// Its content at the start.
    pub initial: Initial,
    /// Each thread has its own.
    pub thread_local: bool,
    /// Never written.
    pub constant: bool,
    /// Where it is declared.
    pub position: Option<Position>,
}

/// The content of a global at the start.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Initial {
    /// All zero.
    Zero,
    /// These bytes, zero after them, with addresses put in.
    Bytes {
        /// Little-endian content.
        bytes: Vec<u8>,
        /// Addresses of other things inside it.
        relocations: Vec<Relocation>,
    },
    /// Synchronisation objects, each with this count: tokens of a semaphore, parties of a barrier, 0 for
    /// the other kinds.
    Sync {
        /// Which kind.
        kind: SyncKind,
        /// Tokens or parties.
        count: u64,
    },
    /// Defined elsewhere.
    External,
}

/// An address inside a global's initial content: eight bytes at `offset`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Relocation {
    /// Where the address stands.
    pub offset: u64,
    /// What it is the address of.
    pub target: RelocationTarget,
    /// What is added to it.
    pub addend: i64,
}

/// What an address in a global's initial content is the address of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum RelocationTarget {
    /// A global.
    Global(GlobalId),
    /// A function: tables of functions are made of these.
    Function(FunctionId),
}

/// A thread that exists from the start.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ThreadStart {
    /// What it is called.
    pub name: Symbol,
    /// What it runs; a function without parameters.
    pub function: FunctionId,
    /// The main thread, from which the names of forked threads begin. At most one.
    pub main: bool,
}

/// How a final condition is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Quantifier {
    /// Some schedule ends in such a state.
    Exists,
    /// No schedule ends in such a state.
    NotExists,
    /// Every schedule that ends, ends in such a state.
    Forall,
}

/// A question about final states: `function` is evaluated on the final memory, without any event, its
/// parameters being the observed locals; its one result is one bit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FinalCondition {
    /// Whether one, none or all final states must satisfy it.
    pub quantifier: Quantifier,
    /// The condition.
    pub function: FunctionId,
    /// Where its parameters come from.
    pub observed: Vec<Observed>,
    /// The condition as the source has it.
    pub text: String,
}

/// A local of a thread at its end: the `result`-th result of the function that
/// [`Program::threads`]`[thread]` runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Observed {
    /// Index into [`Program::threads`].
    pub thread: u32,
    /// Index into [`Function::results`].
    pub result: u32,
}

/// A function.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Function {
    /// Its name.
    pub name: Symbol,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// What it returns. Compiled code has at most one; a thread of a model program returns the locals
    /// that the final condition observes.
    pub results: Vec<ResultDef>,
    /// All SSA values: parameters and results of instructions.
    pub values: Vec<ValueInfo>,
    /// Its blocks; the first is the entry.
    pub blocks: Vec<Block>,
    /// Where it is defined.
    pub position: Option<Position>,
}

/// A parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Parameter {
    /// The value it defines; name and type stand there.
    pub value: ValueId,
}

/// One of a function's results.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ResultDef {
    /// Its type.
    pub ty: Type,
    /// The local that it is the final value of, if any.
    pub name: Option<Symbol>,
    /// How it is shown.
    pub signed: bool,
}

/// What is known of an SSA value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ValueInfo {
    /// Its type.
    pub ty: Type,
    /// The local variable of the source that it is a version of, if any.
    pub name: Option<Symbol>,
    /// What stands at the address that it is, if the source says so: the layout of memory that a call allocates.
    pub pointee: Option<ShapeId>,
}

/// A basic block.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Block {
    /// What it does, phis first.
    pub instructions: Vec<Instruction>,
    /// How it ends.
    pub terminator: Terminator,
    /// Where its end comes from.
    pub position: Option<Position>,
    /// The label that the source gives its end (`t4: if (b > 0)`).
    pub label: Option<Symbol>,
}

impl Program {
    /// The function with this id.
    #[must_use]
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.index()]
    }

    /// The global with this id.
    #[must_use]
    pub fn global(&self, id: GlobalId) -> &Global {
        &self.globals[id.index()]
    }

    /// The shape with this id.
    #[must_use]
    pub fn shape(&self, id: ShapeId) -> &Shape {
        &self.shapes[id.index()]
    }

    /// The size of a shape in bytes; saturates.
    #[must_use]
    pub fn shape_bytes(&self, id: ShapeId) -> u64 {
        match self.shape(id) {
            Shape::Int { bytes, .. } | Shape::Float { bytes } => u64::from(*bytes),
            Shape::Pointer { .. } => 8,
            Shape::Array { element, count } => self.shape_bytes(*element).saturating_mul(*count),
            Shape::Record { bytes, .. } | Shape::Opaque { bytes } => *bytes,
            Shape::Sync(_) => SyncKind::BYTES,
        }
    }

    /// The path from something of shape `shape` to the part that starts `offset` bytes into it, as the source
    /// would write it behind the name: `[3].balance`, `.next`, or nothing. The part is the innermost one;
    /// an offset inside it is shown as `+n`. Members whose names are reserved for the implementation of the language are its
    /// own matter: a lock inside `std::mutex m` is `m`.
    #[must_use]
    pub fn part_name(&self, shape: ShapeId, offset: u64) -> String {
        let mut path = String::new();
        let (mut shape, mut offset) = (shape, offset);
        let mut reserved = false;
        loop {
            match self.shape(shape) {
                Shape::Array { element, .. } => {
                    let bytes = self.shape_bytes(*element).max(1);
                    if !reserved {
                        path.push_str(&format!("[{}]", offset / bytes));
                    }
                    offset %= bytes;
                    shape = *element;
                }
                Shape::Record { fields, .. } => {
                    let field = fields
                        .iter()
                        .find(|f| f.offset <= offset && offset - f.offset < self.shape_bytes(f.shape).max(1));
                    let Some(field) = field else { break };
                    reserved |= is_reserved(&field.name);
                    if !field.name.is_empty() && !reserved {
                        path.push('.');
                        path.push_str(&field.name);
                    }
                    offset -= field.offset;
                    shape = field.shape;
                }
                _ => break,
            }
        }
        if offset != 0 && !reserved {
            path.push_str(&format!("+{offset}"));
        }
        path
    }

    /// The innermost shape at `offset` of something of shape `shape`.
    #[must_use]
    pub fn part_shape(&self, shape: ShapeId, offset: u64) -> &Shape {
        match self.shape(shape) {
            Shape::Array { element, .. } => {
                self.part_shape(*element, offset % self.shape_bytes(*element).max(1))
            }
            Shape::Record { fields, .. } => fields
                .iter()
                .find(|f| f.offset <= offset && offset - f.offset < self.shape_bytes(f.shape).max(1))
                .map_or(self.shape(shape), |f| self.part_shape(f.shape, offset - f.offset)),
            other => other,
        }
    }

    /// A number that differs when the program differs: the hash of its text form without file paths.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        // FNV-1a, 64 bits: stable across versions of the standard library, and enough to tell that a
        // trace belongs to another program; it is no defence against forgery.
        let mut unnamed = self.clone();
        unnamed.name.clear();
        unnamed.files.iter_mut().for_each(|file| file.path.clear());
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for byte in crate::print(&unnamed).bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        hash
    }
}

impl Function {
    /// The block with this id.
    #[must_use]
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    /// What is known of a value.
    #[must_use]
    pub fn value(&self, id: ValueId) -> &ValueInfo {
        &self.values[id.index()]
    }
}

/// Whether C and C++ reserve a name for their implementation.
fn is_reserved(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next() == Some('_')
        && letters.next().is_some_and(|second| second == '_' || second.is_ascii_uppercase())
}

/// Where a site stands: an instruction of a block, or its terminator if `instruction` is the number of
/// its instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SitePlace {
    /// In this function.
    pub function: FunctionId,
    /// In this block.
    pub block: BlockId,
    /// At this index.
    pub instruction: u32,
}

/// The numbering of all sites of a program, in both directions.
#[derive(Clone, Debug)]
pub struct SiteIndex {
    /// For each function the number of its first block in `blocks`.
    functions: Vec<u32>,
    /// For each block of the program, in order: its first site, and where it is.
    blocks: Vec<(u32, FunctionId, BlockId)>,
    sites: u32,
}

impl SiteIndex {
    /// Numbers the sites of `program`.
    #[must_use]
    pub fn new(program: &Program) -> SiteIndex {
        let mut index = SiteIndex { functions: vec![], blocks: vec![], sites: 0 };
        for (f, function) in program.functions.iter().enumerate() {
            index.functions.push(index.blocks.len() as u32);
            for (b, block) in function.blocks.iter().enumerate() {
                index.blocks.push((index.sites, FunctionId::new(f), BlockId::new(b)));
                index.sites += block.instructions.len() as u32 + 1;
            }
        }
        index
    }

    /// How many sites there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sites as usize
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sites == 0
    }

    /// The site at a place.
    #[must_use]
    pub fn site(&self, place: SitePlace) -> SiteId {
        let first = self.blocks[self.functions[place.function.index()] as usize + place.block.index()].0;
        SiteId(first + place.instruction)
    }

    /// Where a site stands, unless the program has no such site.
    #[must_use]
    pub fn place(&self, site: SiteId) -> Option<SitePlace> {
        if site.0 >= self.sites {
            return None;
        }
        let at = self.blocks.partition_point(|&(first, ..)| first <= site.0) - 1;
        let (first, function, block) = self.blocks[at];
        Some(SitePlace { function, block, instruction: site.0 - first })
    }

    /// The source position and label of a site.
    #[must_use]
    pub fn source<'p>(&self, program: &'p Program, site: SiteId) -> (Option<Position>, Option<&'p str>) {
        let Some(place) = self.place(site) else { return (None, None) };
        let block = program.function(place.function).block(place.block);
        match block.instructions.get(place.instruction as usize) {
            Some(instruction) => (instruction.position, instruction.label.as_deref()),
            None => (block.position, block.label.as_deref()),
        }
    }

    /// The instruction at a site; `None` for a terminator.
    #[must_use]
    pub fn op<'p>(&self, program: &'p Program, site: SiteId) -> Option<&'p Op> {
        let place = self.place(site)?;
        let block = program.function(place.function).block(place.block);
        block.instructions.get(place.instruction as usize).map(|i| &i.op)
    }

    /// The function outside the program that is called at a site by its name.
    #[must_use]
    pub fn called<'p>(&self, program: &'p Program, site: SiteId) -> Option<&'p str> {
        let place = self.place(site)?;
        let block = program.function(place.function).block(place.block);
        let callee = match (block.instructions.get(place.instruction as usize), &block.terminator) {
            (Some(Instruction { op: Op::Call { callee, .. }, .. }), _)
            | (None, Terminator::Invoke { callee, .. }) => callee,
            _ => return None,
        };
        match callee {
            Callee::External(name) => Some(name),
            Callee::Function(_) | Callee::Indirect(_) => None,
        }
    }

    /// Whether the wait at a site of a condition variable may end because its time is over.
    #[must_use]
    pub fn is_timed_wait(&self, program: &Program, site: SiteId) -> bool {
        matches!(self.op(program, site), Some(Op::Sync { op: SyncOp::TimedWait, .. }))
            || self.called(program, site).is_some_and(|name| TIMED_WAITS.contains(&name))
    }

    /// Whether nobody waits at a site for ever: whatever is waited for there, the wait is given up at some time.
    #[must_use]
    pub fn has_deadline(&self, program: &Program, site: SiteId) -> bool {
        let says_so = |name: &str| name.contains("timed") || name.contains("clock");
        self.is_timed_wait(program, site) || self.called(program, site).is_some_and(says_so)
    }
}

/// Functions that wait for a condition variable until some time.
const TIMED_WAITS: [&str; 3] = ["pthread_cond_timedwait", "pthread_cond_clockwait", "cnd_timedwait"];
