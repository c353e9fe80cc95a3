//! Synthetic traces in the manner of concurrent trace programs: threads that read, write, branch and lock.
//!
//! A random sequentially consistent run is simulated, so the recorded order is feasible. Blocks of a thread are
//! transactions; candidates are unserializable triples of accesses to one variable, the outer two in one block.

/// What an event does. Values are read by event number.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    Read(usize),
    WriteConstant(usize, i64),
    WriteSum(usize, usize, i64),
    /// The value read by an event compared with a constant: this outcome was recorded.
    Branch(usize, Relation, i64),
    Acquire(usize),
    Release(usize),
}

#[derive(Clone, Copy, Debug)]
pub enum Relation {
    Equal,
    NotEqual,
    AtLeast,
    AtMost,
}

pub struct Event {
    pub thread: usize,
    pub action: Action,
    /// For a read: the event it read from, none for the initial value.
    pub source: Option<usize>,
}

pub struct Trace {
    pub threads: usize,
    pub locks: usize,
    pub initial: Vec<i64>,
    pub events: Vec<Event>,
    pub candidates: Vec<[usize; 3]>,
}

/// Sizes of a trace.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub events: usize,
    pub threads: usize,
    pub variables: usize,
    pub locks: usize,
    pub candidates: usize,
    pub seed: u64,
}

impl Shape {
    /// `p1000`: few writers per variable; `h1000`: many; `p1000x8`: with 8 threads (else 4).
    pub fn parse(name: &str) -> Option<Shape> {
        let (name, threads) = name.split_once('x').unwrap_or((name, "4"));
        let threads: usize = threads.parse().ok().filter(|&t| t > 0)?;
        let (family, events) = name.split_at_checked(1)?;
        let events: usize = events.parse().ok()?;
        let variables = match family {
            "p" => events / 10,
            "h" => events / 40,
            _ => return None,
        };
        let variables = variables.max(1);
        Some(Shape { events, threads, variables, locks: (variables / 5).max(2), candidates: 20, seed: 1 })
    }
}

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn percent(&mut self) -> usize {
        self.below(100)
    }
}

/// One step of a block; reads are referred to by how many reads of the block came before.
#[derive(Clone, Copy)]
enum Step {
    Read(usize),
    Add(usize, usize, i64),
    Constant(usize, i64),
    Branch(usize),
    Acquire(usize),
    Release(usize),
}

struct Running {
    block: usize,
    steps: Vec<Step>,
    next: usize,
    reads: Vec<usize>,
}

fn block(rng: &mut Rng, shape: &Shape) -> Vec<Step> {
    let (x, y) = (rng.below(shape.variables), rng.below(shape.variables));
    let lock = x % shape.locks;
    match rng.percent() {
        0..35 => {
            let mut steps = vec![Step::Acquire(lock), Step::Read(x)];
            if rng.percent() < 30 {
                steps.push(Step::Branch(0));
            }
            steps.extend([Step::Add(x, 0, 1), Step::Release(lock)]);
            steps
        }
        35..55 => {
            let mut steps = vec![Step::Read(x)];
            if rng.percent() < 50 {
                steps.push(Step::Branch(0));
            }
            steps.push(Step::Add(x, 0, [1, 1, 2, -1][rng.below(4)]));
            steps
        }
        55..70 => vec![Step::Read(x), Step::Branch(0), Step::Read(y), Step::Add(y, 1, 1)],
        70..80 => vec![Step::Constant(x, rng.below(4) as i64)],
        80..92 => {
            vec![Step::Acquire(lock), Step::Read(x), Step::Read(x), Step::Branch(1), Step::Release(lock)]
        }
        _ => vec![Step::Read(x), Step::Branch(0), Step::Read(x), Step::Add(y, 1, 0)],
    }
}

impl Trace {
    pub fn generate(shape: &Shape) -> Trace {
        let mut rng = Rng(shape.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let initial: Vec<i64> = (0..shape.variables).map(|_| rng.below(3) as i64).collect();
        let mut memory: Vec<(i64, Option<usize>)> = initial.iter().map(|&v| (v, None)).collect();
        let mut held: Vec<bool> = vec![false; shape.locks];
        let mut running: Vec<Option<Running>> = (0..shape.threads).map(|_| None).collect();
        let mut events: Vec<Event> = Vec::new();
        let mut values: Vec<i64> = Vec::new();
        let mut blocks: Vec<usize> = Vec::new();
        let mut block_count = 0;
        while events.len() < shape.events || running.iter().any(Option::is_some) {
            let thread = rng.below(shape.threads);
            if running[thread].is_none() {
                if events.len() >= shape.events {
                    continue;
                }
                block_count += 1;
                let steps = block(&mut rng, shape);
                running[thread] = Some(Running { block: block_count, steps, next: 0, reads: Vec::new() });
            }
            for _ in 0..1 + rng.below(4) {
                let Some(run) = &mut running[thread] else { break };
                let (mut value, mut source) = (0, None);
                let action = match run.steps[run.next] {
                    Step::Acquire(lock) if held[lock] => break,
                    Step::Acquire(lock) => {
                        held[lock] = true;
                        Action::Acquire(lock)
                    }
                    Step::Release(lock) => {
                        held[lock] = false;
                        Action::Release(lock)
                    }
                    Step::Read(x) => {
                        (value, source) = memory[x];
                        run.reads.push(events.len());
                        Action::Read(x)
                    }
                    Step::Constant(x, constant) => {
                        memory[x] = (constant, Some(events.len()));
                        Action::WriteConstant(x, constant)
                    }
                    Step::Add(x, read, constant) => {
                        let read = run.reads[read];
                        memory[x] = (values[read] + constant, Some(events.len()));
                        Action::WriteSum(x, read, constant)
                    }
                    Step::Branch(read) => {
                        let read = run.reads[read];
                        let v = values[read];
                        let (relation, constant) = match rng.percent() {
                            0..35 => (Relation::Equal, v),
                            35..75 => {
                                (Relation::AtLeast, v.min(0) + rng.below((v - v.min(0)) as usize + 1) as i64)
                            }
                            75..90 => (Relation::AtMost, v + rng.below(3) as i64),
                            _ => (Relation::NotEqual, v + [-1, 1, 2][rng.below(3)]),
                        };
                        Action::Branch(read, relation, constant)
                    }
                };
                events.push(Event { thread, action, source });
                values.push(value);
                blocks.push(run.block);
                run.next += 1;
                if run.next == run.steps.len() {
                    running[thread] = None;
                }
            }
        }
        let candidates = candidates(&events, &blocks, shape, &mut rng);
        Trace { threads: shape.threads, locks: shape.locks, initial, events, candidates }
    }
}

fn access(event: &Event) -> Option<(usize, bool)> {
    match event.action {
        Action::Read(x) => Some((x, false)),
        Action::WriteConstant(x, _) | Action::WriteSum(x, _, _) => Some((x, true)),
        _ => None,
    }
}

/// Pairs of accesses of one block to one variable with a conflicting access of another thread.
fn candidates(events: &[Event], blocks: &[usize], shape: &Shape, rng: &mut Rng) -> Vec<[usize; 3]> {
    let mut by_variable: Vec<Vec<usize>> = vec![Vec::new(); shape.variables];
    let mut by_block: Vec<Vec<usize>> = vec![Vec::new(); blocks.iter().max().map_or(0, |b| b + 1)];
    for (i, event) in events.iter().enumerate() {
        if let Some((x, _)) = access(event) {
            by_variable[x].push(i);
            by_block[blocks[i]].push(i);
        }
    }
    let mut all = Vec::new();
    for accesses in &by_block {
        for (i, &first) in accesses.iter().enumerate() {
            for &last in &accesses[i + 1..] {
                let (Some((x, a)), Some((y, c))) = (access(&events[first]), access(&events[last])) else {
                    continue;
                };
                if x != y {
                    continue;
                }
                for &middle in &by_variable[x] {
                    let b = access(&events[middle]).is_some_and(|(_, write)| write);
                    // Unserializable: R-W-R, R-W-W, W-W-R, W-R-W, W-W-W.
                    let serializable = matches!((a, b, c), (false, false, _) | (true, false, false));
                    if events[middle].thread != events[first].thread && !serializable {
                        all.push([first, middle, last]);
                    }
                }
            }
        }
    }
    for i in (1..all.len()).rev() {
        all.swap(i, rng.below(i + 1));
    }
    all.truncate(shape.candidates);
    all
}
