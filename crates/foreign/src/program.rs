//! Program IR that does what a recording has.
//!
//! A *place* (an operation, its operand, and where it stands in the source) becomes a function of one instruction, so that it is one
//! site however often and by whomever it is done: findings are grouped by sites. A thread is a function that calls these one after the
//! other. Each outermost critical section is a function of its own on the way: which functions the program had is not known, and sections
//! of one call would count as one block that is meant to be atomic.

use crate::recording::Recording;
use crate::{Operation, PlaceId, Record, ThreadNumber, VariableId};
use ir::{
    Block, Callee, FileId, Function, FunctionId, Global, GlobalId, Initial, Instruction, Op, Operand, Order,
    Parameter, Position, Program, Shape, ShapeId, SourceFile, Symbol, SyncKind, SyncOp, Terminator,
    ThreadStart, Type, UpdateOp, ValueId, ValueInfo, Width,
};
use rustc_hash::FxHashMap;
use trace::ThreadId;

/// The shape of locks; variables of one, two and four bytes have the shapes before it.
const LOCK: ShapeId = ShapeId(3);

/// What threads are called here: by whom each was forked, and its name in the tree of forks.
pub struct Threads {
    pub ids: Vec<ThreadId>,
    /// Those that nobody forks, in the order of their numbers.
    pub started: Vec<ThreadNumber>,
    /// The only one of these, if there is one.
    pub main: Option<ThreadNumber>,
}

/// A program, and for each record of the recording the function that is its place.
pub struct Straight {
    pub program: Program,
    pub places: Vec<FunctionId>,
}

/// The bytes that the numbers of a variable's writes take.
pub struct Widths(Vec<u8>);

impl Widths {
    /// Counts the writes.
    pub fn of(recording: &Recording) -> Widths {
        let mut writes = vec![0u32; recording.variables.len()];
        for record in &recording.records {
            if let Operation::Write { variable, .. } | Operation::Update(variable) = record.operation {
                writes[usize::from(variable)] += 1;
            }
        }
        let bytes = |writes: u32| match writes {
            0..=0xff => 1,
            0x100..=0xffff => 2,
            _ => 4,
        };
        Widths(writes.into_iter().map(bytes).collect())
    }

    pub fn bytes(&self, variable: VariableId) -> u8 {
        self.0[usize::from(variable)]
    }

    fn width(&self, variable: VariableId) -> Width {
        match self.bytes(variable) {
            1 => Width::W8,
            2 => Width::W16,
            _ => Width::W32,
        }
    }
}

/// The global that a variable is; those of locks come behind.
pub fn variable(of: VariableId) -> GlobalId {
    GlobalId(of.0)
}

/// The global that a lock is.
pub fn lock(recording: &Recording, of: crate::LockId) -> GlobalId {
    GlobalId(recording.variables.len() as u32 + of.0)
}

/// Makes the program.
pub fn straight(recording: &Recording, name: &str, threads: &Threads, widths: &Widths) -> Straight {
    let count = recording.threads.len();
    let mut builder = Builder {
        recording,
        threads,
        widths,
        files: vec![],
        functions: recording.threads.iter().map(|name| function(name.into(), vec![])).collect(),
        places: FxHashMap::default(),
        bodies: (0..count).map(|_| Body::default()).collect(),
        written: vec![0; recording.variables.len()],
    };
    let places = recording.records.iter().map(|record| builder.record(record)).collect();
    for thread in 0..count {
        builder.finish(thread);
    }
    let Builder { functions, files, .. } = builder;
    let int = |bytes| Shape::Int { bytes, signed: false };
    let variables = recording.variables.iter().enumerate().map(|(n, name)| {
        let shape = match widths.bytes(VariableId(n as u32)) {
            1 => ShapeId(0),
            2 => ShapeId(1),
            _ => ShapeId(2),
        };
        global(name, shape, Initial::Zero)
    });
    let locks = recording.locks.iter();
    let held = Initial::Sync { kind: SyncKind::RecursiveMutex, count: 0 };
    let program = Program {
        name: name.to_owned(),
        files,
        shapes: vec![int(1), int(2), int(4), Shape::Sync(SyncKind::RecursiveMutex)],
        globals: variables.chain(locks.map(|name| global(name, LOCK, held.clone()))).collect(),
        functions,
        threads: (threads.started.iter())
            .map(|&thread| ThreadStart {
                name: recording.threads.name(thread).into(),
                function: FunctionId(thread.0),
                main: threads.main == Some(thread),
            })
            .collect(),
        final_condition: None,
    };
    Straight { program, places }
}

fn global(name: &str, shape: ShapeId, initial: Initial) -> Global {
    Global { name: name.into(), shape, initial, thread_local: false, constant: false, position: None }
}

fn function(name: Symbol, instructions: Vec<Instruction>) -> Function {
    let block = Block { instructions, terminator: Terminator::Return(vec![]), position: None, label: None };
    Function {
        name,
        parameters: vec![],
        results: vec![],
        values: vec![],
        blocks: vec![block],
        position: None,
    }
}

fn plain(op: Op) -> Instruction {
    Instruction { results: vec![], op, position: None, label: None }
}

/// What a thread does, as far as it is known.
#[derive(Default)]
struct Body {
    calls: Vec<Instruction>,
    /// The outermost critical section that is open: which lock, and the calls in it.
    section: Option<(crate::LockId, Vec<Instruction>)>,
    /// Locks that it holds, and how often.
    held: FxHashMap<crate::LockId, u32>,
}

struct Builder<'r> {
    recording: &'r Recording,
    threads: &'r Threads,
    widths: &'r Widths,
    files: Vec<SourceFile>,
    /// First one for each thread, then places and sections as they come up.
    functions: Vec<Function>,
    places: FxHashMap<(Operation, Option<PlaceId>), FunctionId>,
    bodies: Vec<Body>,
    /// How often each variable has been written.
    written: Vec<u32>,
}

impl Builder<'_> {
    /// Adds a record to its thread; gives its place.
    fn record(&mut self, record: &Record) -> FunctionId {
        let Record { thread, operation, place, .. } = *record;
        let callee = match self.places.get(&(operation, place)) {
            Some(&known) => known,
            None => {
                let made = self.place(operation, place);
                let id = FunctionId::new(self.functions.len());
                self.functions.push(made);
                self.places.insert((operation, place), id);
                id
            }
        };
        let arguments = match operation {
            Operation::Write { variable, .. } | Operation::Update(variable) => {
                let written = &mut self.written[usize::from(variable)];
                *written += 1;
                vec![Operand::int(self.widths.width(variable), i128::from(*written))]
            }
            _ => vec![],
        };
        let call = plain(Op::Call { callee: Callee::Function(callee), arguments });
        let body = &mut self.bodies[usize::from(thread)];
        if let Operation::Acquire(lock) = operation {
            if body.held.is_empty() && body.section.is_none() {
                body.section = Some((lock, vec![]));
            }
            *body.held.entry(lock).or_default() += 1;
        }
        match &mut body.section {
            Some((_, calls)) => calls.push(call),
            None => body.calls.push(call),
        }
        if let Operation::Release(lock) = operation
            && let Some(times) = body.held.get_mut(&lock)
        {
            *times -= 1;
            if *times == 0 {
                body.held.remove(&lock);
                if body.section.as_ref().is_some_and(|&(outermost, _)| outermost == lock) {
                    self.close_section(usize::from(thread));
                }
            }
        }
        callee
    }

    fn close_section(&mut self, thread: usize) {
        if let Some((lock, calls)) = self.bodies[thread].section.take() {
            let id = FunctionId::new(self.functions.len());
            self.functions.push(function(self.recording.locks.name(lock).into(), calls));
            let call = Op::Call { callee: Callee::Function(id), arguments: vec![] };
            self.bodies[thread].calls.push(plain(call));
        }
    }

    fn finish(&mut self, thread: usize) {
        self.close_section(thread);
        self.functions[thread].blocks[0].instructions = std::mem::take(&mut self.bodies[thread].calls);
    }

    /// The function of a place: its only instruction is the site.
    fn place(&mut self, operation: Operation, place: Option<PlaceId>) -> Function {
        let recording = self.recording;
        let order = |atomic: bool| atomic.then_some(Order::SeqCst);
        let mut values = vec![];
        let mut value = |ty| {
            values.push(ValueInfo { ty, name: None, pointee: None });
            ValueId::new(values.len() - 1)
        };
        let sync = |op, operands| Op::Sync { op, operands };
        let (mut parameters, mut results) = (vec![], vec![]);
        let (word, object, op) = match operation {
            Operation::Read { variable: of, atomic } => {
                results.push(value(Type::Int(self.widths.width(of))));
                let op = Op::Load { pointer: Operand::Global(variable(of)), order: order(atomic) };
                ("r", recording.variables.name(of), op)
            }
            Operation::Write { variable: of, atomic } => {
                let written = value(Type::Int(self.widths.width(of)));
                parameters.push(Parameter { value: written });
                let (pointer, value) = (Operand::Global(variable(of)), Operand::Value(written));
                ("w", recording.variables.name(of), Op::Store { pointer, value, order: order(atomic) })
            }
            Operation::Update(of) => {
                let ty = Type::Int(self.widths.width(of));
                let written = value(ty);
                parameters.push(Parameter { value: written });
                results.push(value(ty));
                let (pointer, value) = (Operand::Global(variable(of)), Operand::Value(written));
                let op = Op::Update { op: UpdateOp::Exchange, pointer, value, order: Order::SeqCst };
                ("u", recording.variables.name(of), op)
            }
            Operation::Acquire(of) => {
                let object = Operand::Global(lock(recording, of));
                ("acq", recording.locks.name(of), sync(SyncOp::MutexLock, vec![object]))
            }
            Operation::Release(of) => {
                let object = Operand::Global(lock(recording, of));
                ("rel", recording.locks.name(of), sync(SyncOp::MutexUnlock, vec![object]))
            }
            Operation::Fork(child) => {
                results.push(value(Type::Int(Width::W64)));
                let callee = Callee::Function(FunctionId(child.0));
                ("fork", recording.threads.name(child), Op::Fork { callee, arguments: vec![] })
            }
            Operation::Join(child) => {
                // The handle of a thread is its name in the tree of forks.
                let code = self.threads.ids[usize::from(child)].code();
                let handle = Operand::int(Width::W64, i128::from(code));
                ("join", recording.threads.name(child), sync(SyncOp::Join, vec![handle]))
            }
            Operation::Begin => ("begin", "", sync(SyncOp::TransactionBegin, vec![])),
            Operation::End => ("end", "", sync(SyncOp::TransactionEnd, vec![])),
        };
        let said = place.map(|place| recording.places.name(place));
        let name = format!("{word}({object})|{}", said.unwrap_or_default());
        let position = said.and_then(|said| self.position(said));
        let label = said.filter(|_| position.is_none()).map(Into::into);
        let instruction = Instruction { results, op, position, label };
        Function { parameters, values, ..function(name.into(), vec![instruction]) }
    }

    /// `Account.java:42` and `bank.tb:16:5` are places in files.
    fn position(&mut self, place: &str) -> Option<Position> {
        let number = |text: &str| text.parse::<u32>().ok().filter(|&number| number > 0);
        let (before, last) = place.rsplit_once(':')?;
        let last = number(last)?;
        let (path, line, column) =
            match before.rsplit_once(':').and_then(|(path, line)| Some((path, number(line)?))) {
                Some((path, line)) => (path, line, last),
                None => (before, last, 1),
            };
        if path.is_empty() {
            return None;
        }
        let known = self.files.iter().position(|file| file.path == path);
        let file = known.unwrap_or_else(|| {
            self.files.push(SourceFile { path: path.to_owned() });
            self.files.len() - 1
        });
        Some(Position { file: FileId::new(file), line, column })
    }
}
