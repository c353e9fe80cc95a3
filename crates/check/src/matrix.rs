//! Sequential consistency exactly as MM App. A writes it: a matrix of `order i j`, one Boolean for each pair
//! of events, and each rule a set of clauses that can be switched off by its name.
//!
//! Nothing about the order is built in, not even that it is one, so this is cubic in the number of events; it
//! is for "what if" questions and for saying which rules forbid an outcome. Every clause also depends on its
//! events: leaving out an event's clauses shows whether the event matters. Default writes are events of their
//! own, in front of the others (MM App. A.1).

use crate::event::{Action, CellId, EventId};
use crate::execution::{self, Execution, Links};
use crate::rule::Rule;
use crate::unfold::{Options, Unfolding, unfold};
use crate::{Error, Result};
use ir::Program;
use solver::{Bool, Bv, Solver};

/// Most events for which the matrix is built.
const MAX_EVENTS: usize = 100;

/// A program with its order as a matrix.
pub struct Matrix {
    /// Its events.
    pub unfolding: Unfolding,
    /// For each event a literal: its clauses hold.
    pub counts: Vec<Bool>,
    /// `order i j`; events first, default writes of cells behind them. Nothing is before itself.
    order: Vec<Vec<Bool>>,
}

/// A write of a cell: a default write or that of an event.
struct CellWrite {
    node: usize,
    value: Bv,
    when: Bool,
}

impl Matrix {
    /// Unfolds a program and builds its matrix.
    ///
    /// # Errors
    /// As [`unfold`], and if there are too many events.
    pub fn new(program: &Program, options: Options) -> Result<Matrix> {
        Matrix::at_most(MAX_EVENTS, program, options)
    }

    /// The same with another limit.
    pub(crate) fn at_most(most: usize, program: &Program, options: Options) -> Result<Matrix> {
        let unfolding = unfold(program, Options { explained: true, ..options }, Solver::new())?;
        let events = unfolding.events.len();
        if events > most {
            return Err(Error::TooLarge { most });
        }
        let nodes = events + unfolding.memory.cells.len();
        let mut matrix = Matrix { unfolding, counts: vec![], order: vec![] };
        let no = matrix.unfolding.solver.bool_const(false);
        for _ in 0..events {
            let counts = matrix.unfolding.solver.bool_var();
            matrix.counts.push(counts);
        }
        for i in 0..nodes {
            let row =
                (0..nodes).map(|j| if i == j { no } else { matrix.unfolding.solver.bool_var() }).collect();
            matrix.order.push(row);
        }
        matrix.program_order()?;
        matrix.joins()?;
        matrix.read_values()?;
        matrix.general()?;
        matrix.requirements(options.prefix)?;
        Ok(matrix)
    }

    /// `order i j` of two events.
    #[must_use]
    pub fn before(&self, i: EventId, j: EventId) -> Bool {
        self.order[i.index()][j.index()]
    }

    fn rule(&self, rule: Rule) -> Bool {
        self.unfolding.rules[&rule]
    }

    /// A clause of a rule about some nodes: holds if the rule is on, all of them count, and all of them happen.
    fn clause(&mut self, rule: Rule, nodes: &[usize], holds: &[Bool]) -> Result<()> {
        let s = &mut self.unfolding.solver;
        let mut literals = vec![s.not(self.unfolding.rules[&rule])?];
        for &node in nodes {
            if let Some(event) = self.unfolding.events.get(node) {
                literals.push(s.not(event.happens)?);
                literals.push(s.not(self.counts[node])?);
            }
        }
        literals.extend_from_slice(holds);
        let clause = s.or(&literals)?;
        Ok(s.assert(clause)?)
    }

    /// A.1, and a thread's events come after its fork.
    fn program_order(&mut self) -> Result<()> {
        let threads = self.unfolding.threads.clone();
        let (events, nodes) = (self.unfolding.events.len(), self.order.len());
        for thread in &threads {
            for (at, i) in thread.events.iter().enumerate() {
                for j in &thread.events[at + 1..] {
                    self.clause(Rule::ProgramOrder, &[i.index(), j.index()], &[self.before(*i, *j)])?;
                }
                if let Some(fork) = thread.forked_by {
                    self.clause(Rule::ProgramOrder, &[fork.index(), i.index()], &[self.before(fork, *i)])?;
                }
            }
        }
        for initial in events..nodes {
            for j in 0..events {
                self.clause(Rule::ProgramOrder, &[j], &[self.order[initial][j]])?;
            }
        }
        Ok(())
    }

    fn joins(&mut self) -> Result<()> {
        for at in 0..self.unfolding.events.len() {
            let Action::Join(joined) = self.unfolding.events[at].action.clone() else { continue };
            for (thread, when) in joined {
                for i in self.unfolding.threads[thread.index()].events.clone() {
                    let not = self.unfolding.solver.not(when)?;
                    self.clause(Rule::Joins, &[i.index(), at], &[not, self.order[i.index()][at]])?;
                }
            }
        }
        Ok(())
    }

    /// A.2: each read, and the last read of each cell when all is over.
    fn read_values(&mut self) -> Result<()> {
        for cell in 0..self.unfolding.memory.cells.len() {
            let writes = self.writes(CellId(cell as u32))?;
            for k in 0..self.unfolding.events.len() {
                let reads: Vec<(Bool, Bv)> = self.unfolding.events[k]
                    .accesses
                    .iter()
                    .filter(|access| access.cell.index() == cell)
                    .filter_map(|access| access.read.map(|value| (access.when, value)))
                    .collect();
                for (when, value) in reads {
                    self.read(Some(k), when, value, &writes)?;
                }
            }
            let (always, last) =
                (self.unfolding.solver.bool_const(true), self.unfolding.memory.cells[cell].last);
            self.read(None, always, last, &writes)?;
        }
        Ok(())
    }

    fn writes(&mut self, cell: CellId) -> Result<Vec<CellWrite>> {
        let node = self.unfolding.events.len() + cell.index();
        let cell_info = &self.unfolding.memory.cells[cell.index()];
        let value = self.unfolding.solver.bv_const(cell_info.initial, cell_info.width.bits())?;
        let mut writes = vec![CellWrite { node, value, when: self.unfolding.solver.bool_const(true) }];
        for (node, event) in self.unfolding.events.iter().enumerate() {
            for access in event.accesses.iter().filter(|access| access.cell == cell) {
                if let Some((value, when)) = access.write {
                    writes.push(CellWrite { node, value, when });
                }
            }
        }
        Ok(writes)
    }

    /// The read `k`, or one after all events, takes its value from a write `i` that is not after it, with no write `j` between.
    fn read(&mut self, k: Option<usize>, when: Bool, value: Bv, writes: &[CellWrite]) -> Result<()> {
        let no = self.unfolding.solver.bool_const(false);
        let mut sources = vec![];
        let rule = self.rule(Rule::GlobalReadValue);
        for i in writes.iter().filter(|i| Some(i.node) != k) {
            let source = self.unfolding.solver.bool_var();
            sources.push(source);
            let after = k.map_or(no, |k| self.order[k][i.node]);
            let s = &mut self.unfolding.solver;
            let (same, not_after) = (s.bv_eq(i.value, value)?, s.not(after)?);
            for holds in [same, not_after, i.when] {
                let needed = s.implies(source, holds)?;
                s.assert(needed)?;
            }
            for j in writes.iter().filter(|j| j.node != i.node && Some(j.node) != k) {
                let later = self.order[i.node][j.node];
                let before = k.map(|k| self.order[j.node][k]);
                let mut literals = vec![source, j.when, later];
                literals.extend(before);
                literals.extend(self.counts.get(j.node));
                let s = &mut self.unfolding.solver;
                let between = s.and(&literals)?;
                let none = s.not(between)?;
                s.assert(none)?;
            }
        }
        let s = &mut self.unfolding.solver;
        let mut literals = vec![s.not(rule)?, s.not(when)?];
        if let Some(k) = k {
            literals.push(s.not(self.counts[k])?);
        }
        literals.extend(sources);
        let some = s.or(&literals)?;
        Ok(s.assert(some)?)
    }

    /// A.5.
    fn general(&mut self) -> Result<()> {
        let nodes = self.order.len();
        for i in 0..nodes {
            for j in 0..nodes {
                if i == j {
                    continue;
                }
                let (ij, ji) = (self.order[i][j], self.order[j][i]);
                if i < j {
                    self.clause(Rule::WeakTotalOrder, &[i, j], &[ij, ji])?;
                    let (not_ij, not_ji) = (self.unfolding.solver.not(ij)?, self.unfolding.solver.not(ji)?);
                    self.clause(Rule::AsymmetricOrder, &[i, j], &[not_ij, not_ji])?;
                }
                for k in 0..nodes {
                    if k == j || k == i {
                        continue;
                    }
                    let s = &self.unfolding.solver;
                    let (not_ij, not_jk) = (s.not(ij)?, s.not(self.order[j][k])?);
                    self.clause(Rule::TransitiveOrder, &[i, j, k], &[not_ij, not_jk, self.order[i][k]])?;
                }
            }
        }
        Ok(())
    }

    /// A.4 and the needs of other synchronisation; in a whole execution the end of each thread.
    fn requirements(&mut self, prefix: bool) -> Result<()> {
        for at in 0..self.unfolding.events.len() {
            for (rule, holds) in self.unfolding.events[at].requires.clone() {
                self.clause(rule, &[at], &[holds])?;
            }
        }
        if !prefix {
            for thread in self.unfolding.threads.clone() {
                let ends = self.unfolding.solver.implies(thread.exists, thread.ends)?;
                self.unfolding.solver.assert(ends)?;
            }
        }
        Ok(())
    }
}

impl Matrix {
    /// The execution of the last model. Its order need not be one if rules are switched off; then there is no interleaving.
    pub(crate) fn execution(&self) -> Result<Execution> {
        let model = self.unfolding.solver.model().expect("asked only after an answer `Sat`");
        let (mut sources, mut writes) = (vec![], vec![vec![]; self.unfolding.memory.cells.len()]);
        for (at, event) in self.unfolding.events.iter().enumerate() {
            for access in &event.accesses {
                if let Some((_, when)) = access.write
                    && model.holds(when)?
                {
                    writes[access.cell.index()].push(EventId(at as u32));
                }
            }
        }
        for (at, event) in self.unfolding.events.iter().enumerate() {
            for access in &event.accesses {
                let Some(value) = access.read else { continue };
                if !model.holds(access.when)? {
                    continue;
                }
                // The rule may be off: any write of that value will do as an explanation.
                let mut source = None;
                for &write in &writes[access.cell.index()] {
                    let wrote =
                        self.unfolding.events[write.index()].accesses.iter().find(|a| a.cell == access.cell);
                    if let Some((written, _)) = wrote.and_then(|a| a.write)
                        && write.index() != at
                        && model.value(written)? == model.value(value)?
                    {
                        source = Some(write);
                    }
                }
                sources.push((EventId(at as u32), access.cell.index(), source));
            }
        }
        writes.iter_mut().for_each(Vec::clear);
        execution::read(&self.unfolding, &model, &Links { sources, writes, order: None })
    }
}
