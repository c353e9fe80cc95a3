//! What stands in for the program of a trace that has none: straight-line program IR, and its trace.

use crate::program::{Straight, Threads, Widths, lock, straight, variable};
use crate::recording::Recording;
use crate::{Complaint, LockId, Operation, ThreadNumber, VariableId};
use ir::{FunctionId, GlobalId, Program, SiteId, SiteIndex, SitePlace};
use subject::{Run, RunError, Strategy, Subject};
use trace::{
    Allocation, AllocationId, AllocationOrigin, Event, EventId, EventKind, Location, LockMode, Logging,
    Origin, Outcome, Switch, ThreadId, ThreadInfo, Trace,
};

/// A program that does what a recording has, and its run.
#[derive(Clone, Debug)]
pub struct StandIn {
    program: Program,
    trace: Trace,
}

impl StandIn {
    /// Makes it; `name` is what the recording is called in messages.
    ///
    /// # Errors
    /// If the recording cannot have happened, or forks threads so deep that they have no name here.
    pub fn new(recording: &Recording, name: &str) -> Result<StandIn, Complaint> {
        recording.check_possible()?;
        let threads = threads(recording)?;
        let widths = Widths::of(recording);
        let Straight { program, places } = straight(recording, name, &threads, &widths);
        let sites = SiteIndex::new(&program);
        let mut teller = Teller::new(recording, &program, &sites, &threads, &widths);
        for (record, &place) in recording.records.iter().zip(&places) {
            if let Operation::Join(child) = record.operation {
                teller.end(child);
            }
            teller.record(record.thread, record.operation, place);
        }
        let trace = teller.trace;
        Ok(StandIn { program, trace })
    }

    /// The run.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The program and its run.
    #[must_use]
    pub fn into_parts(self) -> (Program, Trace) {
        (self.program, self.trace)
    }
}

/// It cannot be run: it is not what was recorded.
impl Subject for StandIn {
    fn name(&self) -> &str {
        &self.program.name
    }

    fn program(&self) -> &Program {
        &self.program
    }

    fn run(&self, _: &Strategy, _: &Logging) -> Result<Run, RunError> {
        let name = self.name();
        Err(RunError::NotRun(format!("{name} is a trace of another tool: there is no program to run")))
    }
}

/// Names threads as the machine does: by their place in the tree of forks.
fn threads(recording: &Recording) -> Result<Threads, Complaint> {
    let count = recording.threads.len();
    let mut forked = vec![false; count];
    for record in &recording.records {
        if let Operation::Fork(child) = record.operation {
            forked[usize::from(child)] = true;
        }
    }
    let started = (0..count).filter(|&n| !forked[n]).map(|n| ThreadNumber(n as u32));
    let started: Vec<ThreadNumber> = started.collect();
    let main = match started[..] {
        [only] => Some(only),
        _ => None,
    };
    let too_many = |line: u32, thread: ThreadNumber| {
        let name = recording.threads.name(thread);
        Complaint::new(line, format!("{name} is one thread too many"))
            .help("Threadbare names threads by who forked them, in 64 bits: two thousand million of one thread, or some 60 deep")
    };
    let mut ids = vec![ThreadId::MAIN; count];
    // How many children each has had.
    let mut children = vec![0u64; count];
    if main.is_none() {
        for (n, &thread) in started.iter().enumerate() {
            ids[usize::from(thread)] = ThreadId::MAIN.child(n as u64).ok_or_else(|| too_many(1, thread))?;
        }
    }
    for record in &recording.records {
        if let Operation::Fork(child) = record.operation {
            let parent = usize::from(record.thread);
            let id = ids[parent].child(children[parent]).ok_or_else(|| too_many(record.line, child))?;
            children[parent] += 1;
            ids[usize::from(child)] = id;
        }
    }
    Ok(Threads { ids, started, main })
}

/// Writes the trace, event by event.
struct Teller<'r> {
    recording: &'r Recording,
    sites: &'r SiteIndex,
    threads: &'r Threads,
    widths: &'r Widths,
    trace: Trace,
    /// How many events each thread has.
    done: Vec<u64>,
    ended: Vec<bool>,
    /// The number that each variable holds: that of its last write.
    holds: Vec<u64>,
    written: Vec<u64>,
    /// How often each lock is held.
    depth: Vec<u32>,
    /// The end of each thread's function.
    ends: Vec<SiteId>,
}

impl<'r> Teller<'r> {
    fn new(
        recording: &'r Recording,
        program: &Program,
        sites: &'r SiteIndex,
        threads: &'r Threads,
        widths: &'r Widths,
    ) -> Teller<'r> {
        let allocations = program.globals.iter().enumerate().map(|(n, global)| Allocation {
            id: AllocationId(n as u32),
            origin: AllocationOrigin::Global(GlobalId::new(n)),
            shape: Some(global.shape),
            bytes: program.shape_bytes(global.shape),
            address: address(GlobalId::new(n)),
        });
        let started = threads.started.iter().map(|&thread| ThreadInfo {
            id: threads.ids[usize::from(thread)],
            name: recording.threads.name(thread).to_owned(),
            forked_by: None,
        });
        let end = |n: usize| {
            let instruction = program.functions[n].blocks[0].instructions.len() as u32;
            sites.site(SitePlace { function: FunctionId::new(n), block: ir::BlockId(0), instruction })
        };
        let count = recording.threads.len();
        Teller {
            recording,
            sites,
            threads,
            widths,
            trace: Trace {
                origin: Origin {
                    subject: program.name.clone(),
                    fingerprint: program.fingerprint(),
                    strategy: "recorded by another tool".to_owned(),
                    logging: Logging::WithoutValues,
                },
                threads: started.collect(),
                allocations: allocations.collect(),
                events: Vec::with_capacity(recording.records.len() + count),
                switches: vec![],
                choices: vec![],
                // Nobody has recorded how the run ended.
                outcome: Outcome::Truncated,
            },
            done: vec![0; count],
            ended: vec![false; count],
            holds: vec![0; recording.variables.len()],
            written: vec![0; recording.variables.len()],
            depth: vec![0; recording.locks.len()],
            ends: (0..count).map(end).collect(),
        }
    }

    fn record(&mut self, thread: ThreadNumber, operation: Operation, place: FunctionId) {
        let site = self.sites.site(SitePlace { function: place, block: ir::BlockId(0), instruction: 0 });
        let order = |atomic: bool| atomic.then_some(ir::Order::SeqCst);
        let kind = match operation {
            Operation::Read { variable: of, atomic } => EventKind::Read {
                location: at(variable(of)),
                bytes: self.widths.bytes(of),
                value: self.holds[usize::from(of)],
                order: order(atomic),
            },
            Operation::Write { variable: of, atomic } => EventKind::Write {
                location: at(variable(of)),
                bytes: self.widths.bytes(of),
                value: self.write(of),
                order: order(atomic),
            },
            Operation::Update(of) => EventKind::Update {
                location: at(variable(of)),
                bytes: self.widths.bytes(of),
                old: self.holds[usize::from(of)],
                new: self.write(of),
                order: ir::Order::SeqCst,
            },
            Operation::Acquire(of) => {
                let depth = self.depth(of, 1);
                EventKind::Lock { object: at(lock(self.recording, of)), mode: LockMode::Mutex, depth }
            }
            Operation::Release(of) => {
                let depth = self.depth(of, -1);
                EventKind::Unlock { object: at(lock(self.recording, of)), mode: LockMode::Mutex, depth }
            }
            Operation::Fork(child) => {
                let id = self.threads.ids[usize::from(child)];
                let n = self.done[usize::from(thread)] + 1;
                let forked_by = Some(EventId { thread: self.threads.ids[usize::from(thread)], n });
                let name = self.recording.threads.name(child).to_owned();
                self.trace.threads.push(ThreadInfo { id, name, forked_by });
                EventKind::Fork { child: id }
            }
            Operation::Join(child) => EventKind::Join { child: self.threads.ids[usize::from(child)] },
            Operation::Begin => EventKind::TransactionBegin,
            Operation::End => EventKind::TransactionEnd,
        };
        self.event(thread, site, kind);
    }

    /// The number of the next write of a variable.
    fn write(&mut self, of: VariableId) -> u64 {
        let written = &mut self.written[usize::from(of)];
        *written += 1;
        self.holds[usize::from(of)] = *written;
        *written
    }

    fn depth(&mut self, of: LockId, by: i32) -> u32 {
        let depth = &mut self.depth[usize::from(of)];
        *depth = depth.saturating_add_signed(by);
        *depth
    }

    /// A thread that is joined has ended. Of others nobody knows whether they have.
    fn end(&mut self, thread: ThreadNumber) {
        if !std::mem::replace(&mut self.ended[usize::from(thread)], true) {
            self.event(thread, self.ends[usize::from(thread)], EventKind::End);
        }
    }

    fn event(&mut self, thread: ThreadNumber, site: SiteId, kind: EventKind) {
        let done = &mut self.done[usize::from(thread)];
        *done += 1;
        let id = EventId { thread: self.threads.ids[usize::from(thread)], n: *done };
        self.trace.events.push(Event { id, site, kind });
        match self.trace.switches.last_mut() {
            Some(last) if last.thread == id.thread => (last.until, last.site) = (id.n, Some(site)),
            _ => {
                // Who else could have run, another tool does not say.
                let enabled = vec![id.thread];
                self.trace.switches.push(Switch {
                    thread: id.thread,
                    until: id.n,
                    site: Some(site),
                    enabled,
                });
            }
        }
    }
}

fn at(global: GlobalId) -> Location {
    Location { allocation: AllocationId(global.0), offset: 0 }
}

/// Where the machine would have a global.
fn address(global: GlobalId) -> u64 {
    (u64::from(global.0) + 1) << 36 | 1 << 35
}
