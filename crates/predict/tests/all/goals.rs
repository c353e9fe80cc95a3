//! Random goals in temporal logic on random programs without branches, of which every order of the recorded events that locks allow is a run: the symbolic
//! engine and `lockset` find a run for a goal exactly when going through all of these orders does, and `plan` no others.

use crate::common::{build, config, machine, run};
use claim::{Answer, Candidate, Formula, Pattern};
use predict::planning::{Options, Planning};
use predict::symbolic::{self, Symbolic};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use trace::{Event, EventId, EventKind, Location, ThreadId, Trace};

/// Two or three threads.
fn sources() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "x = 1;",
        "r = x;",
        "y = r;",
        "lock(m); x = 2; unlock(m);",
        "lock(m); r = x; y = 3; unlock(m);",
        "lock(m); lock(n); r = y; unlock(n); unlock(m);",
        "lock(n); lock(m); y = 1; unlock(m); unlock(n);",
    ]);
    let thread = prop::collection::vec(piece, 1..3);
    prop::collection::vec(thread, 2..4).prop_map(|threads| {
        let threads = threads.iter().enumerate();
        let threads = threads.map(|(n, pieces)| format!("thread T{n} {{ int r; {} }}\n", pieces.join(" ")));
        format!("int x, y; mutex m, n;\n{}", threads.collect::<String>())
    })
}

fn formulas() -> impl Strategy<Value = Formula<usize>> {
    let atom = (0..3_usize).prop_map(Formula::Happened);
    atom.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|one| !one),
            inner.clone().prop_map(Formula::eventually),
            inner.clone().prop_map(Formula::always),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| Formula::until(one, other)),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Formula::and),
            prop::collection::vec(inner, 2..4).prop_map(Formula::or),
        ]
    })
}

/// Goes through all orders of the recorded events that locks allow, and asks whether a goal holds of one of their beginnings.
struct Orders<'t> {
    threads: Vec<Vec<&'t Event>>,
    goal: &'t Formula,
    asked: Vec<EventId>,
    seen: HashSet<(Vec<usize>, Vec<EventId>)>,
}

impl<'t> Orders<'t> {
    fn new(trace: &'t Trace, goal: &'t Formula) -> Orders<'t> {
        let mut threads: BTreeMap<ThreadId, Vec<&Event>> = BTreeMap::new();
        for event in &trace.events {
            threads.entry(event.id.thread).or_default().push(event);
        }
        Orders { threads: threads.into_values().collect(), goal, asked: goal.events(), seen: HashSet::new() }
    }

    fn holds(
        &mut self,
        done: &mut Vec<usize>,
        held: &mut BTreeSet<Location>,
        run: &mut Vec<EventId>,
    ) -> bool {
        if !self.seen.insert((done.clone(), run.clone())) {
            return false;
        }
        if self.goal.holds(run) {
            return true;
        }
        for t in 0..self.threads.len() {
            let Some(&event) = self.threads[t].get(done[t]) else { continue };
            match event.kind {
                EventKind::Lock { object, .. } if !held.insert(object) => continue,
                EventKind::Unlock { object, .. } => _ = held.remove(&object),
                _ => {}
            }
            done[t] += 1;
            let is_asked = self.asked.contains(&event.id);
            run.extend(is_asked.then_some(event.id));
            let found = self.holds(done, held, run);
            if is_asked {
                run.pop();
            }
            done[t] -= 1;
            match event.kind {
                EventKind::Lock { object, .. } => _ = held.remove(&object),
                EventKind::Unlock { object, .. } => _ = held.insert(object),
                _ => {}
            }
            if found {
                return true;
            }
        }
        false
    }
}

fn compare(source: &str, seed: u64, goal: &Formula<usize>) -> Result<(), TestCaseError> {
    let machine = machine(source);
    let trace = run(&machine, seed);
    // Locks can be taken in both orders: a run that got stuck has not all events.
    let ctp = build(&machine, &trace);
    let told = |event: &&Event| {
        event.kind.access().is_some()
            || matches!(event.kind, EventKind::Lock { .. } | EventKind::Unlock { .. })
    };
    let told: Vec<EventId> = trace.events.iter().filter(told).map(|event| event.id).collect();
    let told: Vec<EventId> = told.into_iter().filter(|&event| ctp.find(event).is_some()).collect();
    let pick = |n: u64| told.get(((seed >> (8 * n)) % told.len().max(1) as u64) as usize).copied();
    let (Some(a), Some(b), Some(c)) = (pick(0), pick(1), pick(2)) else { return Ok(()) };
    if a == b || b == c || a == c {
        return Ok(());
    }
    let events = [a, b, c];
    let goal = goal.named(&|n| events[n]);
    let mut orders = Orders::new(&trace, &goal);
    let mut done = vec![0; orders.threads.len()];
    let is_feasible = orders.holds(&mut done, &mut BTreeSet::new(), &mut vec![]);
    let pattern = Pattern { name: "goal".into(), events: goal.events(), order: vec![], goal: Some(goal) };
    let candidate = [Candidate::Pattern(pattern)];
    let mut engine = Symbolic::new(machine.program(), &ctp, &candidate, symbolic::Options::default())
        .expect("it is encoded");
    let symbolic = engine.answer_small(&candidate[0]).expect("it is decided");
    let lockset = Planning::lockset(machine.program(), &trace, &ctp, Options::default());
    let plan = Planning::plan(machine.program(), &trace, &ctp, Options::default());
    let mut lockset = lockset.answer_all(&candidate, &mut |_| {});
    let mut plan = plan.answer_all(&candidate, &mut |_| {});
    let (lockset, plan) = (lockset.pop().expect("an answer"), plan.pop().expect("an answer"));
    for (name, answer, is_exact) in
        [("symbolic", symbolic, true), ("lockset", lockset, true), ("plan", plan, false)]
    {
        match answer {
            Answer::Feasible(witness) => {
                prop_assert!(is_feasible, "{} claims {:?} by {:?}", name, candidate, witness);
                let rules = witness::Rules::default();
                let checked = witness::check(machine.program(), &trace, rules, &candidate[0], &witness);
                prop_assert!(checked.is_ok(), "{}: {:?} is refused: {:?}", name, witness, checked);
            }
            other => prop_assert!(!is_exact || !is_feasible, "{} misses {:?}: {:?}", name, candidate, other),
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(80))]

    #[test]
    fn goals_hold_of_the_runs_that_engines_find(source in sources(), seed in any::<u64>(), goal in formulas()) {
        compare(&source, seed, &goal).map_err(|error| TestCaseError::fail(format!("{error}\nseed {seed}\n{source}")))?;
    }
}
