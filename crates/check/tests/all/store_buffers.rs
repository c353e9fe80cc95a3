//! TSO and PSO against machines with store buffers, written for this test: for random programs the outcomes
//! of the shipped models are those that the machine reaches by going every way. Sequential consistency is the
//! machine without buffers, so MM's rules and the model file `sc.cat` are compared too. `PROPTEST_CASES` sets
//! how many.

use crate::common::compiled;
use check::cat::Model;
use check::{Checker, Options};
use lang::random::config;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write as _;

const VARIABLES: [&str; 2] = ["x", "y"];
const THREADS: [&str; 3] = ["A", "B", "C"];

/// The order of a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Plain,
    Release,
    SeqCst,
}

#[derive(Clone, Debug)]
enum Statement {
    Load {
        register: usize,
        variable: usize,
    },
    /// The register, if there is one, and a constant.
    Store {
        variable: usize,
        register: Option<usize>,
        add: u8,
        kind: Kind,
    },
    Fence {
        full: bool,
    },
    Add {
        register: usize,
        variable: usize,
        add: u8,
    },
    If {
        register: usize,
        value: u8,
        body: Vec<Statement>,
    },
    Section {
        body: Vec<Statement>,
    },
}

fn simple() -> impl Strategy<Value = Statement> {
    let kind = prop_oneof![4 => Just(Kind::Plain), 1 => Just(Kind::Release), 1 => Just(Kind::SeqCst)];
    prop_oneof![
        4 => (0..2_usize, 0..2_usize).prop_map(|(register, variable)| Statement::Load { register, variable }),
        5 => (0..2_usize, prop::option::weighted(0.3, 0..2_usize), 1..3_u8, kind)
            .prop_map(|(variable, register, add, kind)| Statement::Store { variable, register, add, kind }),
        1 => any::<bool>().prop_map(|full| Statement::Fence { full }),
        1 => (0..2_usize, 0..2_usize, 1..3_u8)
            .prop_map(|(register, variable, add)| Statement::Add { register, variable, add }),
    ]
}

fn statement() -> impl Strategy<Value = Statement> {
    let body = || prop::collection::vec(simple(), 1..=2);
    prop_oneof![
        8 => simple(),
        1 => (0..2_usize, 0..3_u8, body()).prop_map(|(register, value, body)| Statement::If { register, value, body }),
        1 => body().prop_map(|body| Statement::Section { body }),
    ]
}

fn program() -> impl Strategy<Value = Vec<Vec<Statement>>> {
    prop::collection::vec(prop::collection::vec(statement(), 1..=4), 2..=3)
}

fn print(statements: &[Statement], text: &mut String) {
    for statement in statements {
        let _ = match statement {
            Statement::Load { register, variable } => {
                writeln!(text, "r{register} = load({}, relaxed);", VARIABLES[*variable])
            }
            Statement::Store { variable, register, add, kind } => {
                let value = register.map_or(add.to_string(), |r| format!("r{r} + {add}"));
                let order = match kind {
                    Kind::Plain => "relaxed",
                    Kind::Release => "release",
                    Kind::SeqCst => "seq_cst",
                };
                writeln!(text, "store({}, {value}, {order});", VARIABLES[*variable])
            }
            Statement::Fence { full: true } => writeln!(text, "fence();"),
            Statement::Fence { full: false } => writeln!(text, "fence(release);"),
            Statement::Add { register, variable, add } => {
                writeln!(text, "r{register} = fetch_add({}, {add}, relaxed);", VARIABLES[*variable])
            }
            Statement::If { register, value, body } => {
                let _ = writeln!(text, "if (r{register} == {value}) {{");
                print(body, text);
                writeln!(text, "}}")
            }
            Statement::Section { body } => {
                let _ = writeln!(text, "lock(m);");
                print(body, text);
                writeln!(text, "unlock(m);")
            }
        };
    }
}

fn source(threads: &[Vec<Statement>]) -> String {
    let mut text = "int x, y;\nmutex m;\n".to_owned();
    let mut observed = vec![];
    for (thread, name) in threads.iter().zip(THREADS) {
        let _ = writeln!(text, "thread {name} {{\nint r0, r1;");
        print(thread, &mut text);
        text.push_str("}\n");
        observed.push(format!("{name}.r0 == 0 && {name}.r1 == 0"));
    }
    let _ = writeln!(text, "exists ({})", observed.join(" && "));
    text
}

/// One step of a thread of the machine.
#[derive(Clone, Copy, Debug)]
enum Step {
    Load(usize, usize),
    Store(usize, Option<usize>, u8),
    /// What is stored later leaves the buffer later.
    Barrier,
    /// Waits for the buffer to be empty.
    Drain,
    Add(usize, usize, u8),
    /// Goes there unless the register has this value.
    Unless(usize, u8, usize),
    Lock,
    Unlock,
}

fn steps(statements: &[Statement], steps: &mut Vec<Step>) {
    for statement in statements {
        match statement {
            Statement::Load { register, variable } => steps.push(Step::Load(*register, *variable)),
            Statement::Store { variable, register, add, kind } => {
                if *kind != Kind::Plain {
                    steps.push(Step::Barrier);
                }
                steps.push(Step::Store(*variable, *register, *add));
                if *kind == Kind::SeqCst {
                    steps.push(Step::Drain);
                }
            }
            Statement::Fence { full: true } => steps.push(Step::Drain),
            Statement::Fence { full: false } => steps.push(Step::Barrier),
            Statement::Add { register, variable, add } => {
                steps.push(Step::Drain);
                steps.push(Step::Add(*register, *variable, *add));
            }
            Statement::If { register, value, body } => {
                let at = steps.len();
                steps.push(Step::Drain);
                self::steps(body, steps);
                steps[at] = Step::Unless(*register, *value, steps.len());
            }
            Statement::Section { body } => {
                steps.extend([Step::Drain, Step::Lock]);
                self::steps(body, steps);
                steps.extend([Step::Drain, Step::Unlock]);
            }
        }
    }
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Thread {
    at: usize,
    registers: [i32; 2],
    /// Variable, value, and the number of barriers before it.
    buffer: Vec<(usize, i32, u32)>,
    barriers: u32,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct State {
    memory: [i32; 2],
    owner: Option<usize>,
    threads: Vec<Thread>,
}

/// How writes leave the buffers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Buffers {
    None,
    Total,
    Partial,
}

impl State {
    /// The states that can follow.
    fn next(&self, code: &[Vec<Step>], buffers: Buffers) -> Vec<State> {
        let mut next = vec![];
        for (t, steps) in code.iter().enumerate() {
            for at in 0..self.threads[t].buffer.len() {
                let thread = &self.threads[t];
                let (variable, value, barriers) = thread.buffer[at];
                let older = &thread.buffer[..at];
                let free = match buffers {
                    Buffers::Partial => older.iter().all(|&(v, _, b)| v != variable && b == barriers),
                    _ => older.is_empty(),
                };
                if free {
                    let mut state = self.clone();
                    state.memory[variable] = value;
                    state.threads[t].buffer.remove(at);
                    next.push(state);
                }
            }
            if let Some(&step) = steps.get(self.threads[t].at) {
                next.extend(self.step(t, step, buffers));
            }
        }
        next
    }

    fn step(&self, t: usize, step: Step, buffers: Buffers) -> Option<State> {
        let mut state = self.clone();
        let thread = &mut state.threads[t];
        thread.at += 1;
        match step {
            Step::Load(register, variable) => {
                let own = thread.buffer.iter().rev().find(|(v, ..)| *v == variable);
                thread.registers[register] = own.map_or(self.memory[variable], |&(_, value, _)| value);
            }
            Step::Store(variable, register, add) => {
                let value = register.map_or(0, |r| thread.registers[r]) + i32::from(add);
                match buffers {
                    Buffers::None => state.memory[variable] = value,
                    _ => thread.buffer.push((variable, value, thread.barriers)),
                }
            }
            Step::Barrier => thread.barriers += 1,
            Step::Drain if !thread.buffer.is_empty() => return None,
            Step::Drain => {}
            Step::Add(register, variable, add) => {
                thread.registers[register] = self.memory[variable];
                state.memory[variable] = self.memory[variable] + i32::from(add);
            }
            Step::Unless(register, value, to) => {
                if thread.registers[register] != i32::from(value) {
                    thread.at = to;
                }
            }
            Step::Lock if self.owner.is_some() => return None,
            Step::Lock => state.owner = Some(t),
            Step::Unlock => state.owner = None,
        }
        Some(state)
    }
}

/// The final states of the machine as text; `None` if there are too many states.
fn reached(threads: &[Vec<Statement>], buffers: Buffers) -> Option<BTreeSet<Vec<String>>> {
    let code: Vec<Vec<Step>> = threads
        .iter()
        .map(|thread| {
            let mut list = vec![];
            steps(thread, &mut list);
            list
        })
        .collect();
    let start = State { memory: [0; 2], owner: None, threads: vec![Thread::default(); threads.len()] };
    let (mut seen, mut work, mut ends) = (BTreeSet::from([start.clone()]), vec![start], BTreeSet::new());
    while let Some(state) = work.pop() {
        if seen.len() > 60_000 {
            return None;
        }
        let next = state.next(&code, buffers);
        if next.is_empty() {
            let values = state.memory.iter().chain(state.threads.iter().flat_map(|t| &t.registers));
            ends.insert(values.map(ToString::to_string).collect());
        }
        for state in next {
            // A drain and its operation are one step: nothing of the thread can come between.
            if seen.insert(state.clone()) {
                work.push(state);
            }
        }
    }
    Some(ends)
}

fn outcomes(checker: &Checker<'_>) -> BTreeSet<Vec<String>> {
    let outcomes = checker.outcomes(100_000).expect("the tests' own input is fine");
    assert!(outcomes.all);
    outcomes.states.into_iter().map(|o| o.values.into_iter().map(|(_, value)| value).collect()).collect()
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn models_and_machines_with_store_buffers_agree(threads in program()) {
        let text = source(&threads);
        let program = compiled(&text);
        let plain = Checker::new(&program, Options::default());
        for (name, buffers) in [("sc", Buffers::None), ("tso", Buffers::Total), ("pso", Buffers::Partial)] {
            let Some(expected) = reached(&threads, buffers) else { continue };
            let model = Model::shipped(name).unwrap();
            let found = outcomes(&plain.clone().under(&model));
            prop_assert_eq!(&found, &expected, "{}\n{}", name, text);
            if name == "sc" {
                prop_assert_eq!(&outcomes(&plain), &expected, "MM's rules\n{}", text);
            }
        }
    }
}
