//! The steps of the present run, their order of cause and effect, and the pairs of them that could come in the other order.

use crate::tree::Item;
use std::rc::Rc;
use subject::{Footprint, Move, Steps};
use trace::ThreadId;

/// The steps of a run.
#[derive(Debug, Default)]
pub struct Run {
    threads: Vec<ThreadId>,
    /// For each thread the indices of its steps.
    own: Vec<Vec<usize>>,
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    item: Item,
    /// The index of its thread, and its number among that thread's steps, from 1.
    thread: usize,
    number: u32,
    /// How many steps of each thread happen before it or are it.
    clock: Box<[u32]>,
    causes: Causes,
}

/// What a step comes after.
#[derive(Clone, Debug)]
struct Causes {
    /// What its thread knew before.
    own: Vec<u32>,
    /// The last ones of the steps of other threads that it conflicts with: no other of them is after one of these.
    last: Vec<usize>,
}

/// A step of another thread that could be made before one that it came after.
pub struct Reversal {
    /// The step that it came after.
    pub step: usize,
    /// What does not depend on that one, in order, then the step itself: possible from the point before `step`.
    pub sequence: Vec<Item>,
}

fn knows(clock: &[u32], step: &Step) -> bool {
    clock.get(step.thread).is_some_and(|&known| known >= step.number)
}

fn join(clock: &mut Vec<u32>, other: &[u32]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    clock.iter_mut().zip(other).for_each(|(known, &more)| *known = more.max(*known));
}

impl Run {
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Takes note of a step.
    pub fn push(&mut self, made: Move, footprint: Rc<Footprint>) {
        let thread = self.thread(made.thread);
        let item = Item { made, footprint };
        let causes = self.causes(&item, thread);
        let mut clock = causes.own.clone();
        for &step in &causes.last {
            join(&mut clock, &self.steps[step].clock);
        }
        let number = self.own[thread].len() as u32 + 1;
        if clock.len() <= thread {
            clock.resize(thread + 1, 0);
        }
        clock[thread] = number;
        self.own[thread].push(self.steps.len());
        self.steps.push(Step { item, thread, number, clock: clock.into(), causes });
    }

    /// Takes back the last step.
    pub fn pop(&mut self) {
        if let Some(step) = self.steps.pop() {
            self.own[step.thread].pop();
        }
    }

    fn thread(&mut self, id: ThreadId) -> usize {
        let known = self.threads.iter().position(|&thread| thread == id);
        known.unwrap_or_else(|| {
            self.threads.push(id);
            self.own.push(vec![]);
            self.threads.len() - 1
        })
    }

    /// What a step of a thread comes after if it is made now.
    fn causes(&self, item: &Item, thread: usize) -> Causes {
        let own = match self.own[thread].last() {
            Some(&step) => self.steps[step].clock.to_vec(),
            None => vec![],
        };
        let (mut clock, mut last) = (own.clone(), vec![]);
        for (at, step) in self.steps.iter().enumerate().rev() {
            if step.thread != thread && !knows(&clock, step) && step.item.footprint.conflicts(&item.footprint)
            {
                join(&mut clock, &step.clock);
                last.push(at);
            }
        }
        Causes { own, last }
    }

    /// The steps after `step` that do not depend on it.
    fn beside(&self, step: usize) -> impl Iterator<Item = &Item> {
        let without = &self.steps[step];
        self.steps[step + 1..].iter().filter(|later| !knows(&later.clock, without)).map(|later| &later.item)
    }

    /// All reversals of the steps from the `first` on.
    pub fn reversals(&self, subject: &mut impl Steps, first: usize) -> Vec<Reversal> {
        let mut all = vec![];
        for step in &self.steps[first.min(self.steps.len())..] {
            self.reverse(subject, &step.item, step.thread, &step.causes, &mut all);
        }
        all
    }

    /// All reversals of steps that were not made because something kept their threads from it.
    pub fn reversals_of_pending(&mut self, subject: &mut impl Steps) -> Vec<Reversal> {
        let mut all = vec![];
        for (id, footprint) in subject.pending() {
            let thread = self.thread(id);
            let item = Item { made: Move { thread: id, choice: None }, footprint: Rc::new(footprint) };
            let causes = self.causes(&item, thread);
            self.reverse(subject, &item, thread, &causes, &mut all);
        }
        all
    }

    /// The steps before which a step could have been made. That a step comes after a conflicting one has two reasons: its turn came
    /// later, or it was not possible before. In the second case (a lock that had to be released first) the one to be reversed is an
    /// earlier one, the last at which it was possible.
    fn reverse(
        &self,
        subject: &mut impl Steps,
        item: &Item,
        thread: usize,
        causes: &Causes,
        all: &mut Vec<Reversal>,
    ) {
        let mut reversed: Vec<usize> = vec![];
        let mut look_further = false;
        for &step in &causes.last {
            match self.before(subject, item, step, all) {
                true => reversed.push(step),
                false => look_further = true,
            }
        }
        if !look_further {
            return;
        }
        let Some(&end) = causes.last.iter().max() else { return };
        for (at, step) in self.steps[..end].iter().enumerate().rev() {
            let conflicts = step.thread != thread && step.item.footprint.conflicts(&item.footprint);
            if conflicts
                && !causes.last.contains(&at)
                && !knows(&causes.own, step)
                && !reversed.iter().any(|&later| knows(&self.steps[later].clock, step))
                && self.before(subject, item, at, all)
            {
                reversed.push(at);
            }
        }
    }

    /// Adds the ways to make a step before `step`; says whether there are any.
    fn before(&self, subject: &mut impl Steps, item: &Item, step: usize, all: &mut Vec<Reversal>) -> bool {
        let sequence: Vec<Item> = self.beside(step).cloned().collect();
        let moves: Vec<Move> = sequence.iter().map(|item| item.made).collect();
        let thread = item.made.thread;
        let other = &self.steps[step].item;
        let plain = !item.footprint.varies() && !other.footprint.varies();
        let ways = match plain {
            true => vec![(item.made, Rc::clone(&item.footprint))],
            false => {
                let ways = subject.ways_after(step, &moves, thread);
                ways.into_iter().map(|(made, footprint)| (made, Rc::new(footprint))).collect()
            }
        };
        if ways.is_empty() {
            return false;
        }
        subject.meet(step, &moves, thread);
        for (made, footprint) in ways {
            let mut sequence = sequence.clone();
            sequence.push(Item { made, footprint });
            all.push(Reversal { step, sequence });
        }
        true
    }
}
