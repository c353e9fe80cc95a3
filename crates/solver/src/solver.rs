//! The front door: declare, assert, solve, ask.

use crate::blast::{Blaster, Cnf};
use crate::error::{Error, Result};
use crate::limits::{Interrupter, Limits, Stop};
use crate::lit::Lit;
use crate::model::Model;
use crate::order::closure::Closure;
use crate::order::{At, Chain, Owner, Point};
use crate::problem::Problem;
use crate::sat::{Sat, Verdict};
use crate::solution::Solution;
use crate::terms::{Bank, Bool, BoolNode, BoolRef, Bv};
use crate::theory::TheoryStatistics;
use std::time::{Duration, Instant};

/// How a solver works; the default suits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Verify each clause of the theory and each model by independent checkers; a mistake panics. On in debug
    /// builds.
    pub check: bool,
    /// Record a clausal proof for [`Solver::proof`].
    pub proof: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { check: cfg!(debug_assertions), proof: false }
    }
}

/// The answer to a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It can be; [`Solver::model`] has values and an order.
    Sat,
    /// It cannot be, and these assumptions alone already exclude it (with what was asserted).
    Unsat(Vec<Bool>),
    /// There is no answer, because of this limit.
    Unknown(Stop),
}

/// Where the time went, and how large the problem is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Time spent turning terms and constraints into clauses.
    pub encoding: Duration,
    /// Time spent in search.
    pub solving: Duration,
    /// SAT variables.
    pub variables: u64,
    /// Clauses given to the SAT solver.
    pub clauses: u64,
    /// Conflicts of the SAT search, over all queries.
    pub conflicts: u64,
    /// Decisions of the SAT search, over all queries.
    pub decisions: u64,
    /// Deferred multipliers and dividers that had to be built.
    pub repairs: u64,
    /// Lemmas that the independent checker verified.
    pub lemmas_checked: u64,
    /// Counters of the theory.
    pub theory: TheoryStatistics,
}

/// A solver for formulas over points in time, Booleans and bit-vectors. See the [crate documentation](crate).
///
/// Terms, points, fixed edges, locations, exclusions and matchings are permanent; assertions belong to the
/// innermost open scope. What was learnt is kept from query to query.
pub struct Solver {
    pub(crate) owner: Owner,
    pub(crate) bank: Bank,
    pub(crate) problem: Problem,
    pub(crate) fixed: Closure,
    pub(crate) chain_lengths: Vec<u32>,
    pub(crate) sat: Sat,
    pub(crate) blaster: Blaster,
    pub(crate) encoded: crate::encode::Progress,
    scopes: Vec<Lit>,
    preferences: Vec<BoolRef>,
    model: Option<Model>,
    limits: Limits,
    options: Options,
    statistics: Statistics,
    last_assumptions: Vec<Lit>,
    pub(crate) last_assumed: Vec<BoolRef>,
}

impl Default for Solver {
    fn default() -> Solver {
        Solver::new()
    }
}

impl Solver {
    /// A solver with the default options.
    pub fn new() -> Solver {
        Solver::with_options(Options::default())
    }

    /// A solver with the given options.
    pub fn with_options(options: Options) -> Solver {
        Solver {
            owner: Owner::fresh(),
            bank: Bank::new(),
            problem: Problem::default(),
            fixed: Closure::default(),
            chain_lengths: Vec::new(),
            sat: Sat::new(options.check, options.proof),
            blaster: Blaster::default(),
            encoded: crate::encode::Progress::default(),
            scopes: Vec::new(),
            preferences: Vec::new(),
            model: None,
            limits: Limits::default(),
            options,
            statistics: Statistics::default(),
            last_assumptions: Vec::new(),
            last_assumed: Vec::new(),
        }
    }
}

// Points in time.
impl Solver {
    /// A new chain without points.
    pub fn chain(&mut self) -> Result<Chain> {
        let index = u32::try_from(self.chain_lengths.len()).map_err(|_| Error::TooMany)?;
        self.chain_lengths.push(0);
        self.fixed.ensure_chain(index);
        Ok(Chain { index, owner: self.owner })
    }

    /// The next point of a chain: after all that it has.
    pub fn point_on(&mut self, chain: Chain) -> Result<Point> {
        if chain.owner != self.owner {
            return Err(Error::Foreign);
        }
        let length = &mut self.chain_lengths[chain.index as usize];
        // The largest number is kept free as a mark.
        let position = *length;
        *length = length.checked_add(1).filter(|&l| l < u32::MAX - 1).ok_or(Error::TooMany)?;
        Ok(Point { at: At { chain: chain.index, position }, owner: self.owner })
    }

    /// A point on a chain of its own: ordered with nothing at first.
    pub fn point(&mut self) -> Result<Point> {
        let chain = self.chain()?;
        self.point_on(chain)
    }

    /// Fixes `first` before `second`, for good.
    pub fn fix_before(&mut self, first: Point, second: Point) -> Result<()> {
        let (a, b) = (self.own_point(first)?, self.own_point(second)?);
        if self.fixed.reaches(b, a) {
            return Err(Error::FixedCycle(second, first));
        }
        if self.fixed.reaches(a, b) {
            return Ok(());
        }
        self.fixed.add(a, b, &mut Vec::new());
        self.problem.fixed.push((a, b));
        self.sat.theory.borrow_mut().fix(a, b);
        self.sat.checker(|c| c.fix(a, b));
        Ok(())
    }

    /// The literal "`first` is before `second`". Time is a total order: of two points one is before the other.
    pub fn before(&mut self, first: Point, second: Point) -> Result<Bool> {
        let (a, b) = (self.own_point(first)?, self.own_point(second)?);
        let term = self.before_term(a, b);
        Ok(self.own(term))
    }

    pub(crate) fn before_term(&mut self, a: At, b: At) -> BoolRef {
        if self.fixed.before(a, b) {
            BoolRef::TRUE
        } else if self.fixed.reaches(b, a) {
            BoolRef::FALSE
        } else {
            self.bank.before(a, b)
        }
    }

    /// Whenever `condition` holds, `first` is before `second`; otherwise nothing is said. Cheaper than
    /// [`Solver::before`] where only one direction matters. Permanent, whatever scopes are open.
    pub fn before_if(&mut self, condition: Bool, first: Point, second: Point) -> Result<()> {
        let condition = self.own_bool(condition)?;
        let (a, b) = (self.own_point(first)?, self.own_point(second)?);
        self.problem.edges_when.push((condition, a, b));
        Ok(())
    }

    pub(crate) fn own_point(&self, point: Point) -> Result<At> {
        if point.owner == self.owner { Ok(point.at) } else { Err(Error::Foreign) }
    }

    pub(crate) fn own_bool(&self, term: Bool) -> Result<BoolRef> {
        if term.owner == self.owner { Ok(term.term) } else { Err(Error::Foreign) }
    }

    pub(crate) fn own_bv(&self, term: Bv) -> Result<crate::terms::BvRef> {
        if term.owner == self.owner { Ok(term.term) } else { Err(Error::Foreign) }
    }

    pub(crate) fn own(&self, term: BoolRef) -> Bool {
        Bool { term, owner: self.owner }
    }
}

// Queries.
impl Solver {
    /// Requires `term` until the innermost open scope is closed.
    pub fn assert(&mut self, term: Bool) -> Result<()> {
        let term = self.own_bool(term)?;
        self.problem.assertions.push((term, self.scopes.len()));
        Ok(())
    }

    /// Opens a scope.
    pub fn push(&mut self) {
        let activation = self.sat.fresh();
        self.scopes.push(activation);
    }

    /// Closes the innermost scope: its assertions no longer hold.
    pub fn pop(&mut self) -> Result<()> {
        let activation = self.scopes.pop().ok_or(Error::NoScope)?;
        self.sat.clause(&[-activation]);
        let open = self.scopes.len();
        self.problem.assertions.retain(|&(_, depth)| depth <= open);
        self.encoded.assertions = self.encoded.assertions.min(self.problem.assertions.len());
        Ok(())
    }

    /// The search tries this value of a literal first. It changes no answer.
    pub fn prefer(&mut self, term: Bool) -> Result<()> {
        let term = self.own_bool(term)?;
        self.preferences.push(term);
        Ok(())
    }

    /// Limits for the queries to come.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// A handle that stops queries from another thread.
    pub fn interrupter(&self) -> Interrupter {
        self.sat.watchdog.borrow().interrupter.clone()
    }

    /// Takes a handle that was made elsewhere, so that one handle can stop several solvers.
    pub fn set_interrupter(&mut self, interrupter: Interrupter) {
        self.sat.watchdog.borrow_mut().interrupter = interrupter;
    }

    /// Asks whether all that is asserted, and all of `assumptions`, can hold together.
    ///
    /// # Panics
    ///
    /// With [`Options::check`], when an answer turns out to be wrong: that is a bug of this crate.
    pub fn solve(&mut self, assumptions: &[Bool]) -> Result<Answer> {
        let terms: Vec<BoolRef> = assumptions.iter().map(|&a| self.own_bool(a)).collect::<Result<_>>()?;
        self.model = None;
        let start = Instant::now();
        let limits = self.limits;
        self.sat.watchdog.borrow_mut().start(&limits);
        self.encode();
        let wanted: Vec<Lit> = terms.iter().map(|&t| self.lit(t)).collect();
        self.encode_increments();
        self.apply_preferences();
        let mut all = self.scopes.clone();
        all.extend_from_slice(&wanted);
        let encoded = Instant::now();
        self.statistics.encoding += encoded - start;
        let verdict = loop {
            let verdict = self.sat.solve(&all, &limits);
            let (sat, blaster) = (&mut self.sat, &mut self.blaster);
            if verdict != Verdict::Sat {
                break verdict;
            }
            let values = sat.take_values();
            let repaired = blaster.repair(&self.bank, sat, |lit| values.holds(lit));
            sat.give_back(values);
            if !repaired {
                break verdict;
            }
            self.statistics.repairs += 1;
        };
        let answer = match verdict {
            Verdict::Sat => {
                self.take_model();
                Answer::Sat
            }
            Verdict::Unsat => {
                let mut core = Vec::new();
                for (&lit, &assumption) in wanted.iter().zip(assumptions) {
                    if lit != Lit::TRUE && !core.contains(&assumption) && self.sat.failed(lit) {
                        core.push(assumption);
                    }
                }
                Answer::Unsat(core)
            }
            Verdict::Unknown(stop) => Answer::Unknown(stop),
        };
        self.statistics.solving += encoded.elapsed();
        self.last_assumptions = all;
        self.last_assumed = terms;
        self.verify();
        Ok(answer)
    }

    fn apply_preferences(&mut self) {
        for term in std::mem::take(&mut self.preferences) {
            match self.blaster.known_bool(term) {
                Some(lit) => self.sat.prefer(lit),
                None => self.preferences.push(term),
            }
        }
    }

    fn take_model(&mut self) {
        let mut bools = Vec::new();
        let mut bvs = Vec::new();
        let (bank, blaster, sat) = (&self.bank, &self.blaster, &self.sat);
        bank.each_bool_var(|var, term| {
            bools.resize((var as usize + 1).max(bools.len()), false);
            bools[var as usize] = blaster.known_bool(term).is_some_and(|l| sat.value(l));
        });
        bank.each_bv_var(|var, term| {
            bvs.resize((var as usize + 1).max(bvs.len()), 0);
            let bits = blaster.known_bv(term).unwrap_or(&[]);
            let value = |n: u128, (i, &l): (usize, &Lit)| n | (u128::from(sat.value(l)) << i);
            bvs[var as usize] = bits.iter().enumerate().fold(0, value);
        });
        let edges = sat.theory.borrow().model_edges.clone();
        self.model = Some(Model::new(bools, bvs, &edges));
    }

    pub(crate) fn checks(&self) -> bool {
        self.options.check
    }

    fn verify(&self) {
        if !self.options.check {
            return;
        }
        if let Some(checker) = &self.sat.theory.borrow().checker
            && let Some(wrong) = checker.result().1
        {
            panic!("a clause of the theory is wrong: {wrong}");
        }
        if let Some(model) = &self.model
            && let Err(wrong) = self.problem.verify(&self.bank, model)
        {
            panic!("a model is wrong: {wrong}");
        }
    }

    /// The model of the last query, if its answer was [`Answer::Sat`].
    pub fn model(&self) -> Option<Solution<'_>> {
        self.model.as_ref().map(|model| Solution::new(self, model))
    }

    /// With [`Options::proof`]: the clauses of the last query in DIMACS form, and a DRAT derivation of the empty
    /// clause from them if the answer was "unsat".
    pub fn proof(&self) -> Option<(String, String)> {
        self.sat.proof(&self.last_assumptions)
    }

    /// Counters since the solver was made.
    pub fn statistics(&self) -> Statistics {
        let (variables, clauses) = self.sat.size();
        let theory = self.sat.theory.borrow();
        let count = |name| u64::try_from(self.sat.statistic(name)).unwrap_or(0);
        Statistics {
            variables,
            clauses,
            conflicts: count("conflicts"),
            decisions: count("decisions"),
            lemmas_checked: theory.checker.as_ref().map_or(0, |c| c.result().0),
            theory: theory.statistics,
            ..self.statistics
        }
    }

    /// The activation literals of the open scopes.
    pub(crate) fn scope(&self, depth: usize) -> Lit {
        depth.checked_sub(1).map_or(Lit::TRUE, |i| self.scopes[i])
    }

    pub(crate) fn open_scopes(&self) -> usize {
        self.scopes.len()
    }

    pub(crate) fn lit(&mut self, term: BoolRef) -> Lit {
        self.blaster.bool(&self.bank, &mut self.sat, term)
    }

    /// A literal that the theory may look at. A variable that is new to SAT is observed itself.
    pub(crate) fn observed_lit(&mut self, term: BoolRef) -> Lit {
        let positive = term.positive();
        if matches!(self.bank.bool_node(positive), BoolNode::Var(_))
            && self.blaster.known_bool(positive).is_none()
        {
            let own = self.sat.fresh_observed();
            self.sat.mark_observed(own, own);
            self.blaster.define(&self.bank, positive, own);
        }
        let lit = self.lit(term);
        self.sat.observe(lit)
    }
}
