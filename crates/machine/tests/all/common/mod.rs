//! Compiling and exploring small programs, and saying what was seen in few words.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "tests")]

use machine::oracle::{self, Answers, Method, Question};
use machine::{Machine, Options};

pub fn machine_with(source: &str, options: Options) -> Machine {
    let lowering =
        lang::LowerOptions { name: "test.tb".into(), path: "test.tb".into(), ..Default::default() };
    let program = lang::compile(source, &lowering).unwrap_or_else(|errors| {
        panic!("{}", errors.iter().map(|e| lang::render(e, "test.tb", source, false)).collect::<String>())
    });
    Machine::new(program, options).unwrap()
}

pub fn machine(source: &str) -> Machine {
    machine_with(source, Options::default())
}

pub fn explore(source: &str) -> Seen {
    Seen::of(&machine(source))
}

/// What both methods have seen, in words.
#[derive(PartialEq, Eq, Debug)]
pub struct Seen {
    pub finals: Vec<String>,
    pub failures: Vec<String>,
    pub deadlocks: Vec<String>,
    pub co_enabled: Vec<String>,
    pub unordered: Vec<String>,
    pub triples: Vec<String>,
    pub schedules: oracle::Counts,
}

impl Seen {
    pub fn of(machine: &Machine) -> Seen {
        let stateful = oracle::ask(machine, &Question { method: Method::Stateful, ..Question::default() });
        let stateless = oracle::ask(machine, &Question { method: Method::Stateless, ..Question::default() });
        let seen = Seen::from(machine, &stateful);
        assert_eq!(seen, Seen::from(machine, &stateless), "the two methods differ");
        seen
    }

    pub fn from(machine: &Machine, answers: &Answers) -> Seen {
        let name = |thread| answers.threads.get(&thread).cloned().unwrap_or_else(|| format!("{thread}"));
        let place = |site| {
            let (position, label) = machine.sites().source(machine.program(), site);
            label.map_or_else(|| position.map_or("?".into(), |p| format!("line {}", p.line)), str::to_owned)
        };
        let point = |p: &oracle::Point| format!("{} {}", name(p.thread), place(p.site));
        let race = |r: &oracle::Race| format!("{} / {}", point(&r.first), point(&r.second));
        let mut seen = Seen {
            finals: (answers.final_states.keys())
                .map(|s| s.values.iter().map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>().join(" "))
                .collect(),
            failures: (answers.failures.keys())
                .map(|f| format!("{}: {}", point(&f.at), f.fault.map_or("assert", |k| k.words())))
                .collect(),
            deadlocks: (answers.deadlocks.keys())
                .map(|d| d.iter().map(|b| name(b.thread)).collect::<Vec<_>>().join("+"))
                .collect(),
            co_enabled: answers.co_enabled.keys().map(race).collect(),
            unordered: answers.unordered.keys().map(race).collect(),
            triples: (answers.triples.keys())
                .map(|t| format!("{} < {} < {}", point(&t.before), point(&t.between), point(&t.after)))
                .collect(),
            schedules: answers.schedules,
        };
        for list in [&mut seen.failures, &mut seen.co_enabled, &mut seen.unordered, &mut seen.triples] {
            list.sort();
        }
        seen
    }
}
