//! Small traces, all interleavings enumerated: a candidate is feasible by the solver if and only if some interleaving
//! shows it, and the order that the solver gives for the prefix, with few switches, runs on plain integers.

// Failing by `unwrap` is what a test does.
#![allow(clippy::unwrap_used)]

#[path = "../../examples/bench_solver/ours.rs"]
mod ours;
#[path = "../../examples/bench_solver/trace.rs"]
#[allow(dead_code)]
mod trace;

use solver::{Answer, Options, Point, Solution};
use trace::{Action, Relation, Shape, Trace};

/// A machine that runs the events of a trace, one at a time.
#[derive(Clone)]
struct Machine<'a> {
    trace: &'a Trace,
    memory: Vec<i64>,
    read: Vec<i64>,
    held: Vec<bool>,
}

impl<'a> Machine<'a> {
    fn new(trace: &'a Trace) -> Machine<'a> {
        let (memory, read) = (trace.initial.clone(), vec![0; trace.events.len()]);
        Machine { trace, memory, read, held: vec![false; trace.locks] }
    }

    /// Runs an event if it can run with its recorded outcome.
    fn step(&mut self, event: usize) -> bool {
        match self.trace.events[event].action {
            Action::Read(x) => self.read[event] = self.memory[x],
            Action::WriteConstant(x, constant) => self.memory[x] = constant,
            Action::WriteSum(x, read, constant) => self.memory[x] = self.read[read] + constant,
            Action::Branch(read, relation, constant) => {
                let value = self.read[read];
                return match relation {
                    Relation::Equal => value == constant,
                    Relation::NotEqual => value != constant,
                    Relation::AtLeast => value >= constant,
                    Relation::AtMost => value <= constant,
                };
            }
            Action::Acquire(lock) => return !std::mem::replace(&mut self.held[lock], true),
            Action::Release(lock) => self.held[lock] = false,
        }
        true
    }
}

/// Whether some interleaving runs the three events in this order.
fn feasible(machine: &Machine<'_>, next: &mut [usize], threads: &[Vec<usize>], wanted: &[usize]) -> bool {
    let Some(&goal) = wanted.first() else { return true };
    for thread in 0..threads.len() {
        let Some(&event) = threads[thread].get(next[thread]) else { continue };
        // An event of the rest that runs too early can never come in order.
        if wanted[1..].contains(&event) {
            continue;
        }
        let mut after = machine.clone();
        if after.step(event) {
            next[thread] += 1;
            let rest = if event == goal { &wanted[1..] } else { wanted };
            let found = feasible(&after, next, threads, rest);
            next[thread] -= 1;
            if found {
                return true;
            }
        }
    }
    false
}

/// Runs the events of the prefix in the given order.
fn replay(trace: &Trace, points: &[Point], order: &[Point], wanted: [usize; 3]) {
    let mut machine = Machine::new(trace);
    let mut seen = Vec::new();
    for point in order {
        let event = points.iter().position(|p| p == point).unwrap();
        assert!(machine.step(event), "event {event} cannot run as recorded");
        if wanted.contains(&event) {
            seen.push(event);
        }
    }
    assert_eq!(seen, wanted);
}

#[test]
fn candidates_are_feasible_exactly_if_some_interleaving_shows_them() {
    let (mut sat, mut unsat, mut fewer) = (0, 0, 0);
    for seed in 1..=600 {
        let shape = Shape {
            events: 7 + seed as usize % 6,
            threads: 2 + seed as usize % 2,
            variables: 1 + seed as usize % 2,
            locks: 1,
            candidates: 12,
            seed,
        };
        let trace = Trace::generate(&shape);
        let mut threads = vec![Vec::new(); trace.threads];
        trace.events.iter().enumerate().for_each(|(i, e)| threads[e.thread].push(i));
        let mut encoded = ours::encode(&trace, Options::default()).unwrap();
        for &candidate in &trace.candidates {
            let expected = feasible(&Machine::new(&trace), &mut vec![0; trace.threads], &threads, &candidate);
            match encoded.ask(candidate).unwrap() {
                Answer::Sat => {
                    assert!(expected, "seed {seed}: {candidate:?} is infeasible");
                    sat += 1;
                    let model = encoded.solver.model().unwrap();
                    let inside: Vec<Point> = encoded
                        .points
                        .iter()
                        .copied()
                        .filter(|&p| model.before(p, encoded.cut).unwrap())
                        .collect();
                    let any = model.order(&inside).unwrap();
                    replay(&trace, &encoded.points, &any, candidate);
                    let few = model.order_with_few_switches(&inside).unwrap();
                    replay(&trace, &encoded.points, &few, candidate);
                    assert!(Solution::switches(&few) <= Solution::switches(&any));
                    fewer += usize::from(Solution::switches(&few) < Solution::switches(&any));
                }
                Answer::Unsat(_) => {
                    assert!(!expected, "seed {seed}: {candidate:?} is feasible");
                    unsat += 1;
                }
                Answer::Unknown(_) => unreachable!("there is no limit"),
            }
        }
    }
    println!("{sat} feasible, {unsat} infeasible; fewer switches in {fewer}");
    assert!(sat > 100 && unsat > 100 && fewer > 0, "{sat} {unsat} {fewer}");
}
