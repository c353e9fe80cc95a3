//! Sequential consistency on the solver's theory of order: one point in time for each event.
//!
//! This is MM App. A with its rules built in: points of a thread lie on a chain (program order), time is
//! total, transitive and asymmetric, and a location's reads take the value of the last write before them. It
//! is what all questions about sequentially consistent executions are asked of.
//!
//! If rules are to be switched off or named, program order and the values of reads hold only as long as their rules are on and the events count:
//! each event then has a point of its own, which its thread's chain holds in its place. That time is one order cannot be switched off here; where
//! it is to be, [`crate::matrix`] is asked, which is for small programs.

use crate::Result;
use crate::event::{Action, EventId};
use crate::execution::{self, Execution, Links};
use crate::rule::Rule;
use crate::unfold::{Options, Unfolding, unfold};
use ir::Program;
use solver::{Answer, Bool, Bv, Point, Read, Solution, Solver, Write};

/// A program in time.
pub struct Timed {
    /// Its events.
    pub unfolding: Unfolding,
    /// When each event is.
    pub points: Vec<Point>,
    /// For each event a literal: its order, and the value that it reads, are as the rules say. None unless explained.
    pub counts: Vec<Bool>,
}

impl Timed {
    /// Unfolds a program and puts it in time.
    ///
    /// # Errors
    /// As [`unfold`].
    pub fn new(program: &Program, options: Options) -> Result<Timed> {
        let mut unfolding = unfold(program, options, Solver::new())?;
        let (points, counts) = match options.explained {
            true => hold_in_time(&mut unfolding)?,
            false => (put_in_time(&mut unfolding)?, vec![]),
        };
        let end = unfolding.solver.point()?;
        for thread in &unfolding.threads {
            // The last of a chain is after all others.
            let first = if options.explained { 0 } else { thread.events.len().saturating_sub(1) };
            for event in &thread.events[first..] {
                unfolding.solver.fix_before(points[event.index()], end)?;
            }
        }
        locate(&mut unfolding, &points, &counts, end)?;
        require(&mut unfolding, options.prefix)?;
        Ok(Timed { unfolding, points, counts })
    }
}

/// A point for each event, which its thread's chain holds in its place as long as the event counts and program order is on.
fn hold_in_time(unfolding: &mut Unfolding) -> Result<(Vec<Point>, Vec<Bool>)> {
    let (mut points, mut counts) = (vec![], vec![]);
    for _ in &unfolding.events {
        points.push(unfolding.solver.point()?);
        counts.push(unfolding.solver.bool_var());
    }
    let (order, joins) = (unfolding.rules[&Rule::ProgramOrder], unfolding.rules[&Rule::Joins]);
    let solver = &mut unfolding.solver;
    for thread in &unfolding.threads {
        let chain = solver.chain()?;
        let mut before = solver.point_on(chain)?;
        for event in &thread.events {
            let (point, after) = (points[event.index()], solver.point_on(chain)?);
            let held = solver.and(&[order, counts[event.index()]])?;
            solver.before_if(held, before, point)?;
            solver.before_if(held, point, after)?;
            before = after;
            if let Some(fork) = thread.forked_by {
                let started = solver.and(&[held, counts[fork.index()]])?;
                solver.before_if(started, points[fork.index()], point)?;
            }
        }
    }
    for (at, event) in unfolding.events.iter().enumerate() {
        let Action::Join(joined) = &event.action else { continue };
        for (thread, when) in joined {
            for child in &unfolding.threads[thread.index()].events {
                let waits = solver.and(&[joins, *when, counts[at], counts[child.index()]])?;
                solver.before_if(waits, points[child.index()], points[at])?;
            }
        }
    }
    Ok((points, counts))
}

/// One chain for each thread; a thread begins after its fork, and what joins it is after its end.
fn put_in_time(unfolding: &mut Unfolding) -> Result<Vec<Point>> {
    let mut points: Vec<Option<Point>> = vec![None; unfolding.events.len()];
    for thread in &unfolding.threads {
        let chain = unfolding.solver.chain()?;
        for event in &thread.events {
            points[event.index()] = Some(unfolding.solver.point_on(chain)?);
        }
    }
    let points: Vec<Point> = points.into_iter().flatten().collect();
    for thread in &unfolding.threads {
        if let (Some(fork), Some(first)) = (thread.forked_by, thread.events.first()) {
            unfolding.solver.fix_before(points[fork.index()], points[first.index()])?;
        }
    }
    for (at, event) in unfolding.events.iter().enumerate() {
        let Action::Join(joined) = &event.action else { continue };
        for (thread, when) in joined {
            if let Some(last) = unfolding.threads[thread.index()].events.last() {
                let waits = unfolding.solver.and(&[unfolding.rules[&Rule::Joins], *when])?;
                unfolding.solver.before_if(waits, points[last.index()], points[at])?;
            }
        }
    }
    Ok(points)
}

/// Every cell with its reads and writes, and a last read when all is over. Writes count in any case: with fewer of them, reads could
/// take fewer values.
fn locate(unfolding: &mut Unfolding, points: &[Point], counts: &[Bool], end: Point) -> Result<()> {
    let rule = unfolding.rules[&Rule::GlobalReadValue];
    let mut places: Vec<(Vec<Read>, Vec<Write>)> = vec![Default::default(); unfolding.memory.cells.len()];
    for id in unfolding.threads.iter().flat_map(|thread| &thread.events) {
        let at = points[id.index()];
        for access in &unfolding.events[id.index()].accesses {
            let (reads, writes) = &mut places[access.cell.index()];
            if let Some(value) = access.read {
                reads.push(match counts.get(id.index()) {
                    None => Read { at, value, when: access.when, likely: None },
                    Some(&counts) => {
                        let when = unfolding.solver.and(&[rule, access.when, counts])?;
                        let value = seen(&mut unfolding.solver, value, when)?;
                        Read { at, value, when, likely: None }
                    }
                });
            }
            writes.extend(access.write.map(|(value, when)| Write { at, value, when }));
        }
    }
    for (cell, (mut reads, writes)) in places.into_iter().enumerate() {
        let cell = &unfolding.memory.cells[cell];
        let value = if counts.is_empty() { cell.last } else { seen(&mut unfolding.solver, cell.last, rule)? };
        reads.push(Read { at: end, value, when: rule, likely: None });
        let initial = unfolding.solver.bv_const(cell.initial, cell.width.bits())?;
        unfolding.solver.location(Some(initial), &writes, &reads)?;
    }
    Ok(())
}

/// What a read finds in memory, which is its value as long as the rules say so. The solver takes the value of a read to be one of those that
/// are written, whether the read happens or not; this one may be any.
fn seen(solver: &mut Solver, value: Bv, when: Bool) -> Result<Bv> {
    let here = solver.bv_var(value.width())?;
    let same = solver.bv_eq(here, value)?;
    let tied = solver.implies(when, same)?;
    solver.assert(tied)?;
    Ok(here)
}

/// What must hold: the needs of each event that happens; and in a whole execution the end of every thread.
pub(crate) fn require(unfolding: &mut Unfolding, prefix: bool) -> Result<()> {
    for event in &unfolding.events {
        for &(rule, holds) in &event.requires {
            let needed = unfolding.solver.implies(unfolding.rules[&rule], holds)?;
            unfolding.solver.assert(needed)?;
        }
    }
    if !prefix {
        for thread in &unfolding.threads {
            let ends = unfolding.solver.implies(thread.exists, thread.ends)?;
            unfolding.solver.assert(ends)?;
        }
    }
    Ok(())
}

/// Reading executions off models.
impl Timed {
    /// The execution of the last model.
    pub(crate) fn execution(&self) -> Result<Execution> {
        let model = self.unfolding.solver.model().expect("asked only after an answer `Sat`");
        let mut happened = vec![];
        for (at, event) in self.unfolding.events.iter().enumerate() {
            if model.holds(event.happens)? {
                happened.push(self.points[at]);
            }
        }
        let sequence = model.order_with_few_switches(&happened)?;
        let at: rustc_hash::FxHashMap<Point, EventId> =
            self.points.iter().enumerate().map(|(i, &p)| (p, EventId(i as u32))).collect();
        let order: Vec<EventId> = sequence.iter().filter_map(|p| at.get(p).copied()).collect();
        let mut writes: Vec<Vec<EventId>> = vec![vec![]; self.unfolding.memory.cells.len()];
        let mut last: Vec<Option<EventId>> = vec![None; writes.len()];
        let mut sources = vec![];
        for &id in &order {
            for access in &self.unfolding.events[id.index()].accesses {
                let cell = access.cell.index();
                if access.read.is_some() && model.holds(access.when)? {
                    sources.push((id, cell, last[cell]));
                }
                if let Some((_, when)) = access.write
                    && model.holds(when)?
                {
                    writes[cell].push(id);
                    last[cell] = Some(id);
                }
            }
        }
        execution::read(&self.unfolding, &model, &Links { sources, writes, order: Some(order) })
    }

    /// The matrix of MM Fig. 5 for the values of the last model: which operations come before which, in
    /// every, in no, or in some legal order.
    pub(crate) fn matrix(&mut self, defaults: usize, assumed: &[Bool]) -> Result<Vec<String>> {
        let Some(model) = self.unfolding.solver.model() else { return Ok(vec![]) };
        let shown = execution::shown(&self.unfolding, &model)?;
        let mut fixed = vec![];
        for event in &self.unfolding.events {
            let happens = model.holds(event.happens)?;
            fixed.push((event.happens, happens));
        }
        let mut values = vec![];
        for access in self.unfolding.events.iter().flat_map(|event| &event.accesses) {
            if let Some(read) = access.read {
                values.push((read, model.value(read)?));
            }
        }
        let solver = &mut self.unfolding.solver;
        let mut assumptions = assumed.to_vec();
        for (term, holds) in fixed {
            assumptions.push(if holds { term } else { solver.not(term)? });
        }
        for (read, value) in values {
            let value = solver.bv_const(value, read.width())?;
            assumptions.push(solver.bv_eq(read, value)?);
        }
        let count = shown.len();
        // Which way round each pair was seen so far.
        let mut seen = vec![vec![false; count]; count];
        let points = self.points.clone();
        if self.unfolding.solver.solve(&assumptions)? == Answer::Sat
            && let Some(model) = self.unfolding.solver.model()
        {
            note(&mut seen, &shown, &points, &model)?;
        }
        let mut open: Vec<(usize, usize)> =
            (0..count).flat_map(|i| (0..count).map(move |j| (i, j))).collect();
        let thread = |i: usize| self.unfolding.events[shown[i].index()].thread;
        open.retain(|&(i, j)| i != j && (thread(i) != thread(j) || !self.counts.is_empty()));
        for (i, j) in open {
            if seen[i][j] {
                continue;
            }
            let before = self.unfolding.solver.before(points[shown[i].index()], points[shown[j].index()])?;
            let mut asked = assumptions.clone();
            asked.push(before);
            if self.unfolding.solver.solve(&asked)? == Answer::Sat
                && let Some(model) = self.unfolding.solver.model()
            {
                note(&mut seen, &shown, &points, &model)?;
            }
        }
        let entry = |i: usize, j: usize| -> char {
            match (i < defaults, j < defaults) {
                _ if i == j => '0',
                (true, true) => 'X',
                (true, false) => '1',
                (false, true) => '0',
                (false, false) => {
                    match (seen[i - defaults][j - defaults], seen[j - defaults][i - defaults]) {
                        (true, true) => 'X',
                        (true, false) => '1',
                        _ => '0',
                    }
                }
            }
        };
        let all = count + defaults;
        Ok((0..all).map(|i| (0..all).map(|j| entry(i, j)).collect()).collect())
    }
}

/// Takes note of which way round pairs of events are in a model.
fn note(seen: &mut [Vec<bool>], shown: &[EventId], points: &[Point], model: &Solution<'_>) -> Result<()> {
    for (i, a) in shown.iter().enumerate() {
        for (j, b) in shown.iter().enumerate() {
            seen[i][j] |= i != j && model.before(points[a.index()], points[b.index()])?;
        }
    }
    Ok(())
}
