//! `make bench-plan`: the table of PLAN §5 on programs of the same kinds, with the symbolic engine and random schedules beside.
//!
//! An access pattern is a candidate that neither fork and join nor locks exclude. Each engine is asked about all of them; a run counts as
//! feasible when the program, run along it, shows the pattern. `both` is PLAN's combination: `plan`, and `lockset` where that finds
//! none. As many random schedules are run as there are patterns.

use claim::{Answer, Candidate, Consequence, Property, Standing, Witness};
use ctp::Ctp;
use machine::{Machine, Options};
use predict::planning::{self, Planning};
use predict::{Filters, Normal, Wanted, Windows, candidates, confirm, symbolic};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use subject::{Logging, Strategy, Subject as _};
use trace::{Event, EventId, Outcome, Trace};

/// The programs: name, source, how they are recorded, and most patterns at the same instructions.
const PROGRAMS: [(&str, &str, Strategy, usize); 6] = [
    (
        "vector, test 1",
        concat!(include_str!("programs/vector.tb"), include_str!("programs/vector-test1.tb")),
        Strategy::RunToBlock,
        usize::MAX,
    ),
    (
        "vector, test 2",
        concat!(include_str!("programs/vector.tb"), include_str!("programs/vector-test2.tb")),
        Strategy::RunToBlock,
        usize::MAX,
    ),
    (
        "pool 1.2",
        concat!(include_str!("programs/pool.tb"), include_str!("programs/pool-1.2.tb")),
        Strategy::RunToBlock,
        usize::MAX,
    ),
    (
        "pool 1.3",
        concat!(include_str!("programs/pool.tb"), include_str!("programs/pool-1.3.tb")),
        Strategy::RunToBlock,
        usize::MAX,
    ),
    ("elevator", include_str!("programs/elevator.tb"), Strategy::RoundRobin { quantum: 50 }, usize::MAX),
    ("ftp", include_str!("programs/ftp.tb"), Strategy::RunToBlock, usize::MAX),
];

/// What an engine came to: for each pattern whether it is feasible by its run, and what that took.
struct Side {
    feasible: Vec<bool>,
    runs: usize,
    time: Duration,
    /// Re-executions of runs that turned out not to be feasible.
    wasted: usize,
    wasted_time: Duration,
    /// How the program ended otherwise than in clean runs.
    bugs: BTreeSet<String>,
}

impl Side {
    fn count(&self) -> usize {
        self.feasible.iter().filter(|&&feasible| feasible).count()
    }

    fn per_pattern(&self) -> f64 {
        self.time.as_secs_f64() * 1000.0 / self.feasible.len().max(1) as f64
    }
}

struct Bench {
    machine: Machine,
    trace: Trace,
    ctp: Ctp,
    patterns: Vec<Candidate>,
    normal: Normal,
}

impl Bench {
    fn new(name: &str, source: &str, strategy: &Strategy, per_place: usize) -> Bench {
        let options = lang::LowerOptions { name: name.into(), path: name.into(), ..Default::default() };
        let program = lang::compile(source, &options).expect("the program is well formed");
        let machine = Machine::new(program, Options::default()).expect("it runs");
        let trace = machine.run(strategy, &Logging::Everything).expect("it runs").trace;
        let marked = ctp::Options { atomic: ctp::Atomic::Marked, ..ctp::Options::default() };
        let ctp = Ctp::build(machine.program(), &trace, &marked).expect("the trace fits");
        let wanted = Wanted { properties: vec![Property::Atomicity], per_place };
        let mut patterns = candidates(&ctp, &wanted).all;
        let filters = Filters::new(&ctp);
        patterns.retain(|pattern| filters.discards(pattern).is_none());
        let normal = Normal::of(&machine, &trace, 4, None).expect("it runs again");
        Bench { machine, trace, ctp, patterns, normal }
    }

    /// Runs the program along what an engine gives.
    fn side(&self, answers: Vec<Answer>, time: Duration) -> Side {
        let mut side = Side {
            feasible: vec![],
            runs: 0,
            time,
            wasted: 0,
            wasted_time: Duration::ZERO,
            bugs: BTreeSet::new(),
        };
        for (pattern, answer) in self.patterns.iter().zip(answers) {
            let Answer::Feasible(witness) = answer else {
                side.feasible.push(false);
                continue;
            };
            side.runs += 1;
            let start = Instant::now();
            let (shown, bug) = self.replay(pattern, &witness);
            if !shown {
                side.wasted += 1;
                side.wasted_time += start.elapsed();
            }
            side.feasible.push(shown);
            side.bugs.extend(bug);
        }
        side
    }

    fn replay(&self, pattern: &Candidate, witness: &Witness) -> (bool, Option<String>) {
        let witness = witness.whole(&self.trace);
        let replayed = confirm(&self.machine, &self.trace, pattern, &witness, &self.normal);
        let bug = match &replayed.consequence {
            Consequence::AssertionFailed { event } => {
                let run = replayed.run.as_ref();
                let failed = run.and_then(|run| run.events.iter().find(|other| other.id == *event));
                failed.map(|failed| format!("assertion {}", failed.site.0))
            }
            Consequence::Crashed { kind, .. } => Some(kind.words().to_owned()),
            Consequence::Deadlocked => Some("deadlock".to_owned()),
            _ => None,
        };
        // A run that has left its way may do something else there than the pattern says.
        let rules = witness::Rules::default();
        let is_it = replayed.standing == Standing::Confirmed
            && witness::check(self.machine.program(), &self.trace, rules, pattern, &witness).is_ok();
        (is_it, bug)
    }

    fn planning(&self, make: fn(&Bench) -> Planning<'_>) -> Side {
        let start = Instant::now();
        let answers = make(self).answer_all(&self.patterns, &mut |_| {});
        let time = start.elapsed();
        self.side(answers, time)
    }

    fn symbolic(&self) -> Side {
        let start = Instant::now();
        let (program, patterns) = (self.machine.program(), &self.patterns);
        let options = symbolic::Options::default();
        let mut engine =
            Windows::new(program, &self.trace, &self.ctp, patterns, options).expect("it is encoded");
        let answers = engine.answer_all(patterns, &mut |_| {}).expect("they are decided");
        let time = start.elapsed();
        self.side(answers, time)
    }

    /// Whether a run up to here shows a pattern, by the same judge as for the engines.
    fn is_shown(&self, pattern: &Candidate, run: &[Event]) -> bool {
        let order = run.iter().map(|event| event.id).collect();
        let witness = Witness { order, ..Witness::default() };
        let rules = witness::Rules::default();
        witness::check(self.machine.program(), &self.trace, rules, pattern, &witness).is_ok()
    }

    /// How many patterns as many random schedules as there are patterns show, and the bugs that they hit.
    fn random(&self) -> (usize, usize) {
        let mut shown: BTreeSet<usize> = BTreeSet::new();
        let mut bugs: BTreeSet<String> = BTreeSet::new();
        for seed in 0..self.patterns.len() as u64 {
            let run =
                self.machine.run(&Strategy::Random { seed }, &Logging::Everything).expect("it runs").trace;
            let at: std::collections::HashMap<EventId, usize> =
                run.events.iter().enumerate().map(|(n, event)| (event.id, n)).collect();
            for (n, pattern) in self.patterns.iter().enumerate() {
                let events: Option<Vec<usize>> =
                    pattern.events().iter().map(|id| at.get(id).copied()).collect();
                if !shown.contains(&n)
                    && let Some(&[e1, f, e2]) = events.as_deref()
                    && e1 < f
                    && f < e2
                    && self.is_shown(pattern, &run.events[..=e2])
                {
                    shown.insert(n);
                }
            }
            match run.outcome {
                Outcome::AssertionFailed { site, .. } => _ = bugs.insert(format!("assertion {}", site.0)),
                Outcome::Deadlock { .. } => _ = bugs.insert("deadlock".to_owned()),
                _ => {}
            }
        }
        (shown.len(), bugs.len())
    }
}

/// Prints the table; `only` names some of the programs.
pub fn print(only: &[&str]) {
    println!(
        "| program | threads | vars | locks | events | patterns | lockset | plan | both | symbolic | random | lockset – plan | \
         lockset ms | plan ms | symbolic ms | re-runs in vain | bugs: lockset, plan, both, symbolic, random |"
    );
    println!("|{}", "---|".repeat(17));
    for (name, source, strategy, per_place) in PROGRAMS {
        if !only.is_empty() && !only.iter().any(|only| name.starts_with(only)) {
            continue;
        }
        let bench = Bench::new(name, source, &strategy, per_place);
        let ctp = &bench.ctp;
        let lockset = bench.planning(|b| {
            Planning::lockset(b.machine.program(), &b.trace, &b.ctp, planning::Options::default())
        });
        let plan = bench.planning(|b| {
            Planning::plan(b.machine.program(), &b.trace, &b.ctp, planning::Options::default())
        });
        let symbolic = bench.symbolic();
        let (random, random_bugs) = bench.random();
        let both = lockset.feasible.iter().zip(&plan.feasible).filter(|(a, b)| **a || **b).count();
        let missed = (lockset.feasible.iter().zip(&plan.feasible).zip(&symbolic.feasible))
            .filter(|((a, b), c)| (**a || **b) && !**c)
            .count();
        let locks =
            ctp.objects.values().filter(|object| matches!(object.kind, Some(ir::SyncKind::Mutex))).count();
        let percent = |side: &Side| 100 * side.count() / both.max(1);
        let both_bugs: BTreeSet<&String> = lockset.bugs.union(&plan.bugs).collect();
        println!(
            "| {name} | {} | {} | {locks} | {} | {} | {} | {} | {both} | {} | {random} | {} % – {} % | {:.2} | {:.2} | {:.2} | {} ({:.2} s) | {}, {}, {}, {}, {random_bugs} |",
            ctp.threads.iter().filter(|thread| !thread.events.is_empty()).count(),
            ctp.locations.len(),
            bench.trace.events.len(),
            bench.patterns.len(),
            lockset.count(),
            plan.count(),
            symbolic.count(),
            percent(&lockset),
            percent(&plan),
            lockset.per_pattern(),
            plan.per_pattern(),
            symbolic.per_pattern(),
            lockset.wasted,
            lockset.wasted_time.as_secs_f64(),
            lockset.bugs.len(),
            plan.bugs.len(),
            both_bugs.len(),
            symbolic.bugs.len(),
        );
        assert_eq!(plan.wasted, 0, "{name}: each plan is a run of the program");
        if missed > 0 {
            println!("{name}: {missed} patterns that lockset or plan show, symbolic does not");
        }
    }
}
