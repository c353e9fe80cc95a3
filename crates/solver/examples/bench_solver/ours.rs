//! The trace as our solver sees it: chains, locations, exclusions, and a cut point for the prefix.

use super::trace::{Action, Relation, Trace};
use solver::{Answer, Bool, Bv, Options, Point, Read, Result, Section, Solver, Source, Write};

pub struct Encoded {
    pub solver: Solver,
    pub points: Vec<Point>,
    pub cut: Point,
}

const WIDTH: u32 = 32;

pub fn encode(trace: &Trace, options: Options) -> Result<Encoded> {
    let mut solver = Solver::with_options(options);
    let mut chains = Vec::new();
    for _ in 0..trace.threads {
        chains.push(solver.chain()?);
    }
    let cut = solver.point()?;
    let mut points = Vec::with_capacity(trace.events.len());
    for event in &trace.events {
        points.push(solver.point_on(chains[event.thread])?);
    }
    let mut values: Vec<Option<Bv>> = vec![None; trace.events.len()];
    let mut writes: Vec<Vec<Write>> = vec![Vec::new(); trace.initial.len()];
    let mut write_index: Vec<usize> = vec![0; trace.events.len()];
    let always = solver.bool_const(true);
    let value_of = |values: &[Option<Bv>], read: usize| values[read].expect("a read comes before its use");
    for (i, event) in trace.events.iter().enumerate() {
        let (x, value) = match event.action {
            Action::Read(_) => {
                values[i] = Some(solver.bv_var(WIDTH)?);
                continue;
            }
            Action::WriteConstant(x, constant) => (x, solver.bv_signed(constant.into(), WIDTH)?),
            Action::WriteSum(x, read, constant) => {
                let constant = solver.bv_signed(constant.into(), WIDTH)?;
                (x, solver.bv_add(value_of(&values, read), constant)?)
            }
            Action::Branch(read, relation, constant) => {
                let holds = compare(&mut solver, value_of(&values, read), relation, constant)?;
                let inside = in_prefix(&mut solver, points[i], cut)?;
                let formula = solver.implies(inside, holds)?;
                solver.assert(formula)?;
                continue;
            }
            Action::Acquire(_) | Action::Release(_) => continue,
        };
        write_index[i] = writes[x].len();
        writes[x].push(Write { at: points[i], value, when: always });
    }
    let mut reads: Vec<Vec<Read>> = vec![Vec::new(); trace.initial.len()];
    for (i, event) in trace.events.iter().enumerate() {
        if let Action::Read(x) = event.action {
            let when = in_prefix(&mut solver, points[i], cut)?;
            let likely = Some(event.source.map_or(Source::Initial, |w| Source::Write(write_index[w])));
            reads[x].push(Read { at: points[i], value: value_of(&values, i), when, likely });
        }
    }
    for (x, &initial) in trace.initial.iter().enumerate() {
        let initial = solver.bv_signed(initial.into(), WIDTH)?;
        solver.location(Some(initial), &writes[x], &reads[x])?;
    }
    let mut open: Vec<Option<usize>> = vec![None; trace.locks];
    let mut sections: Vec<Vec<Section>> = vec![Vec::new(); trace.locks];
    for (i, event) in trace.events.iter().enumerate() {
        match event.action {
            Action::Acquire(lock) => {
                let when = in_prefix(&mut solver, points[i], cut)?;
                open[lock] = Some(sections[lock].len());
                sections[lock].push(Section { begin: points[i], end: None, when, shared: false });
            }
            Action::Release(lock) => {
                if let Some(section) = open[lock].take() {
                    sections[lock][section].end = Some(points[i]);
                }
            }
            _ => {}
        }
    }
    for sections in &sections {
        solver.exclude(sections)?;
    }
    Ok(Encoded { solver, points, cut })
}

fn in_prefix(solver: &mut Solver, point: Point, cut: Point) -> Result<Bool> {
    let inside = solver.before(point, cut)?;
    // Short prefixes are found faster.
    let outside = solver.not(inside)?;
    solver.prefer(outside)?;
    Ok(inside)
}

fn compare(solver: &mut Solver, value: Bv, relation: Relation, constant: i64) -> Result<Bool> {
    let constant = solver.bv_signed(constant.into(), WIDTH)?;
    match relation {
        Relation::Equal => solver.bv_eq(value, constant),
        Relation::NotEqual => {
            let equal = solver.bv_eq(value, constant)?;
            solver.not(equal)
        }
        Relation::AtLeast => solver.bv_sle(constant, value),
        Relation::AtMost => solver.bv_sle(value, constant),
    }
}

impl Encoded {
    /// The assumptions of a candidate: its events in order, all before the cut.
    pub fn candidate(&mut self, [a, b, c]: [usize; 3]) -> Result<Vec<Bool>> {
        let (a, b, c) = (self.points[a], self.points[b], self.points[c]);
        Ok(vec![self.solver.before(a, b)?, self.solver.before(b, c)?, self.solver.before(c, self.cut)?])
    }

    pub fn ask(&mut self, candidate: [usize; 3]) -> Result<Answer> {
        let assumptions = self.candidate(candidate)?;
        self.solver.solve(&assumptions)
    }
}
