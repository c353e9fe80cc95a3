//! How many events a second the machine runs and the oracle steps through, on one core: `make bench`.
//! Throughput is in events ("items").

use divan::Bencher;
use divan::counter::ItemsCount;
use machine::oracle::{self, Method, Question};
use machine::{Machine, Options};
use subject::{Strategy, Subject as _};
use trace::Logging;

fn main() {
    divan::main();
}

const PROGRAMS: [&str; 4] = ["philosophers", "readers-writers", "prune-fig1", "peterson"];

fn load(name: &str) -> Machine {
    let path = format!("{}/../../examples/{name}.tb", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(&path).expect("the examples are there");
    let options = lang::LowerOptions { name: name.to_owned(), path, ..Default::default() };
    let program = lang::compile(&source, &options).expect("the examples compile");
    Machine::new(program, Options::default()).expect("the examples run")
}

fn ask(bencher: Bencher<'_, '_>, name: &str, method: Method, history: bool) {
    let machine = load(name);
    let question = Question { method, history, ..Question::default() };
    let steps = oracle::ask(&machine, &question).steps;
    bencher.counter(ItemsCount::new(steps)).bench_local(|| oracle::ask(&machine, &question));
}

#[divan::bench(args = PROGRAMS)]
fn stateless(bencher: Bencher<'_, '_>, name: &str) {
    ask(bencher, name, Method::Stateless, false);
}

#[divan::bench(args = PROGRAMS)]
fn stateful(bencher: Bencher<'_, '_>, name: &str) {
    ask(bencher, name, Method::Stateful, false);
}

#[divan::bench(args = PROGRAMS)]
fn stateful_with_history(bencher: Bencher<'_, '_>, name: &str) {
    ask(bencher, name, Method::Stateful, true);
}

/// A long run of one program, recorded.
#[divan::bench]
fn record(bencher: Bencher<'_, '_>) {
    let source = "int x; mutex m;
        thread T { int i = 0; while (i < 20000) bound 20000 { lock(m); x = x + 1; unlock(m); i++; } }
        thread U { int i = 0; while (i < 20000) bound 20000 { lock(m); x = x + 1; unlock(m); i++; } }";
    let program = lang::compile(source, &lang::LowerOptions::default()).expect("it compiles");
    let machine = Machine::new(program, Options::default()).expect("it runs");
    let run = || machine.run(&Strategy::Random { seed: 1 }, &Logging::Everything).expect("it runs");
    let events = run().trace.events.len();
    bencher.counter(ItemsCount::new(events)).bench_local(run);
}
