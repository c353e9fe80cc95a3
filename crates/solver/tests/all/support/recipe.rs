//! Random problems as lists of statements. Each statement refers to points and terms by numbers taken modulo
//! what there is, so that any sublist is again a valid recipe: that makes shrinking simple.

use super::rng::Rng;
use solver::{Answer, Bool, Bv, Giver, Options, Point, Read, Result, Section, Solver, Source, Taker, Write};

#[derive(Clone, Debug)]
pub enum Statement {
    Fix(usize, usize),
    Word { op: usize, a: usize, b: usize, c: usize },
    Constant(u64),
    Compare { op: usize, a: usize, b: usize },
    Before(usize, usize),
    Connect { op: usize, a: usize, b: usize, c: usize },
    Location { initial: Option<usize>, writes: Vec<[usize; 4]>, reads: Vec<[usize; 2]> },
    Exclude(Vec<[usize; 4]>),
    Match { takers: Vec<[usize; 3]>, givers: Vec<[usize; 3]> },
    BeforeIf(usize, usize, usize),
    Assert(usize),
    Push,
    Pop,
    Solve(Vec<usize>),
}

#[derive(Clone, Debug)]
pub struct Recipe {
    pub chains: Vec<usize>,
    pub width: u32,
    pub bools: usize,
    pub words: usize,
    pub statements: Vec<Statement>,
}

impl Recipe {
    /// Any kind of formula, or one like those of traces: three of four need the theory.
    pub fn random(rng: &mut Rng) -> Recipe {
        match rng.below(4) {
            0 => Recipe::mixed(rng),
            1 => Recipe::counters(rng),
            _ => Recipe::like_a_trace(rng),
        }
    }

    /// Chains that count up and down and compare what they read with constants.
    fn counters(rng: &mut Rng) -> Recipe {
        let n = |rng: &mut Rng| rng.below(1 << 16);
        let chains: Vec<usize> = (0..2 + rng.below(4)).map(|_| 2 + rng.below(4)).collect();
        let points: usize = chains.iter().sum();
        let mut recipe =
            Recipe { chains, width: 3 + rng.below(6) as u32, bools: 1, words: 0, statements: vec![] };
        let (first, step) = (rng.below(3), 1 + rng.below(3));
        for i in 0..5 {
            recipe.statements.push(Statement::Constant((first + i * step) as u64));
        }
        for _ in 0..1 + rng.below(2) {
            // Even points read, odd ones write: most of them what was read before, moved.
            let writes = (1..points).step_by(2).filter(|_| rng.chance(80)).collect::<Vec<_>>();
            let reads = (0..points).step_by(1 + rng.below(2)).filter(|_| rng.chance(80)).collect::<Vec<_>>();
            recipe.statements.push(Statement::Location {
                initial: Some(rng.below(3)),
                writes: writes
                    .into_iter()
                    .map(|at| [at, n(rng), n(rng) | 1, [4, 5, 7, 8, 14][rng.below(5)]])
                    .collect(),
                reads: reads.into_iter().map(|at| [at, n(rng) | 1]).collect(),
            });
        }
        for _ in 0..4 + rng.below(8) {
            recipe.statements.push(match rng.below(4) {
                0 => Statement::Before(n(rng), n(rng)),
                // One side is a constant.
                1 => Statement::Compare { op: n(rng), a: 1 + rng.below(5), b: n(rng) },
                _ => Statement::Compare { op: n(rng), a: n(rng), b: 1 + rng.below(5) },
            });
        }
        for _ in 0..2 + rng.below(3) {
            let assumptions = (0..1 + rng.below(5)).map(|_| n(rng)).collect();
            recipe.statements.push(Statement::Solve(assumptions));
        }
        recipe
    }

    /// Several chains, locations with data flow, sections, matchings, and queries that assume orders and values.
    fn like_a_trace(rng: &mut Rng) -> Recipe {
        let chains: Vec<usize> = (0..2 + rng.below(3)).map(|_| 2 + rng.below(5)).collect();
        let mut recipe =
            Recipe { chains, width: 2 + rng.below(4) as u32, bools: 1, words: 0, statements: vec![] };
        let n = |rng: &mut Rng| rng.below(1 << 16);
        for _ in 0..1 + rng.below(3) {
            recipe.statements.push(Statement::Location {
                initial: Some(n(rng)),
                writes: (0..1 + rng.below(5)).map(|_| [n(rng), n(rng), n(rng), n(rng)]).collect(),
                reads: (0..1 + rng.below(4)).map(|_| [n(rng), n(rng)]).collect(),
            });
        }
        for _ in 0..rng.below(3) {
            // One on each chain: two on one chain would often overlap for good.
            let mut start = 0;
            let mut sections = Vec::new();
            for &length in &recipe.chains {
                sections.push([start + rng.below(length), n(rng), n(rng), 1]);
                start += length;
            }
            recipe.statements.push(Statement::Exclude(sections));
        }
        if rng.chance(30) {
            recipe.statements.push(Statement::Match {
                takers: (0..1 + rng.below(3)).map(|_| [n(rng), n(rng), n(rng)]).collect(),
                givers: (0..3 + rng.below(3)).map(|_| [n(rng), n(rng), n(rng)]).collect(),
            });
        }
        for _ in 0..3 + rng.below(6) {
            recipe.statements.push(match rng.below(4) {
                0 => Statement::Compare { op: n(rng), a: n(rng), b: n(rng) },
                1 => Statement::Connect { op: 1, a: n(rng), b: n(rng), c: n(rng) },
                _ => Statement::Before(n(rng), n(rng)),
            });
        }
        for _ in 0..2 + rng.below(3) {
            if rng.chance(20) {
                recipe.statements.push(Statement::Push);
            }
            if rng.chance(15) {
                recipe.statements.push(Statement::Assert(n(rng)));
            }
            let assumptions = (0..1 + rng.below(4)).map(|_| n(rng)).collect();
            recipe.statements.push(Statement::Solve(assumptions));
            if rng.chance(20) {
                recipe.statements.push(Statement::Pop);
            }
        }
        recipe
    }

    fn mixed(rng: &mut Rng) -> Recipe {
        let chains = (0..1 + rng.below(4)).map(|_| 1 + rng.below(5)).collect();
        let width = [1, 2, 3, 4, 5, 8][rng.below(6)];
        let mut recipe =
            Recipe { chains, width, bools: 1 + rng.below(3), words: rng.below(3), statements: Vec::new() };
        let big = 1 << 16;
        let n = |rng: &mut Rng| rng.below(big);
        let focus = rng.below(5);
        for _ in 0..4 + rng.below(24) {
            let kind = match focus {
                0 => rng.below(100),
                1 => [20, 45, 46, 60, 82, 30][rng.below(6)],
                2 => [62, 63, 64, 70, 82, 10][rng.below(6)],
                3 => [12, 15, 22, 12, 82, 14][rng.below(6)],
                _ => [72, 70, 66, 45, 30, 82][rng.below(6)],
            };
            let statement = match kind {
                0..8 => Statement::Fix(n(rng), n(rng)),
                8..18 => Statement::Word { op: n(rng), a: n(rng), b: n(rng), c: n(rng) },
                18..21 => Statement::Constant(rng.next()),
                21..28 => Statement::Compare { op: n(rng), a: n(rng), b: n(rng) },
                28..42 => Statement::Before(n(rng), n(rng)),
                42..56 => Statement::Connect { op: n(rng), a: n(rng), b: n(rng), c: n(rng) },
                56..66 => Statement::Location {
                    initial: rng.chance(80).then(|| n(rng)),
                    writes: (0..rng.below(5)).map(|_| [n(rng), n(rng), n(rng), n(rng)]).collect(),
                    reads: (0..rng.below(5)).map(|_| [n(rng), n(rng)]).collect(),
                },
                66..72 => Statement::Exclude(
                    (0..2 + rng.below(3)).map(|_| [n(rng), n(rng), n(rng), n(rng)]).collect(),
                ),
                72..76 => Statement::Match {
                    takers: (0..1 + rng.below(3)).map(|_| [n(rng), n(rng), n(rng)]).collect(),
                    givers: (0..1 + rng.below(3)).map(|_| [n(rng), n(rng), n(rng)]).collect(),
                },
                76..80 => Statement::BeforeIf(n(rng), n(rng), n(rng)),
                80..92 => Statement::Assert(n(rng)),
                92..94 => Statement::Push,
                94..96 => Statement::Pop,
                _ => Statement::Solve((0..rng.below(4)).map(|_| n(rng)).collect()),
            };
            recipe.statements.push(statement);
        }
        recipe.statements.push(Statement::Solve((0..rng.below(4)).map(|_| n(rng)).collect()));
        recipe
    }

    /// Smaller recipes to try when this one fails.
    pub fn smaller(&self) -> Vec<Recipe> {
        let mut all = Vec::new();
        for i in (0..self.statements.len()).rev() {
            let mut less = self.clone();
            less.statements.remove(i);
            all.push(less);
        }
        for i in 0..self.statements.len() {
            let mut variants: Vec<Statement> = Vec::new();
            match &self.statements[i] {
                Statement::Location { initial, writes, reads } => {
                    for k in 0..writes.len() {
                        let mut writes = writes.clone();
                        writes.remove(k);
                        let (initial, reads) = (*initial, reads.clone());
                        variants.push(Statement::Location { initial, writes, reads });
                    }
                    for k in 0..reads.len() {
                        let mut reads = reads.clone();
                        reads.remove(k);
                        let (initial, writes) = (*initial, writes.clone());
                        variants.push(Statement::Location { initial, writes, reads });
                    }
                }
                Statement::Exclude(sections) if sections.len() > 2 => {
                    for k in 0..sections.len() {
                        let mut sections = sections.clone();
                        sections.remove(k);
                        variants.push(Statement::Exclude(sections));
                    }
                }
                Statement::Solve(assumptions) => {
                    for k in 0..assumptions.len() {
                        let mut assumptions = assumptions.clone();
                        assumptions.remove(k);
                        variants.push(Statement::Solve(assumptions));
                    }
                }
                _ => {}
            }
            for variant in variants {
                let mut less = self.clone();
                less.statements[i] = variant;
                all.push(less);
            }
        }
        all
    }
}

/// One query of a recipe: what we said, and the script for others.
pub struct Query {
    pub answer: Answer,
    pub script: String,
    /// The same query with only the assumptions of the core.
    pub core_script: Option<String>,
}

/// A recipe being carried out.
pub struct Kitchen {
    pub solver: Solver,
    pub points: Vec<Point>,
    pub bools: Vec<Bool>,
    pub words: Vec<Bv>,
    pub queries: Vec<Query>,
    scopes: usize,
}

impl Kitchen {
    pub fn new(recipe: &Recipe, options: Options) -> Kitchen {
        let mut solver = Solver::with_options(options);
        let mut points = Vec::new();
        for &length in &recipe.chains {
            let chain = solver.chain().unwrap();
            for _ in 0..length {
                points.push(solver.point_on(chain).unwrap());
            }
        }
        let mut bools = vec![solver.bool_const(true)];
        bools.extend((0..recipe.bools).map(|_| solver.bool_var()));
        let mut words = vec![solver.bv_const(1, recipe.width).unwrap()];
        words.extend((0..recipe.words).map(|_| solver.bv_var(recipe.width).unwrap()));
        Kitchen { solver, points, bools, words, queries: Vec::new(), scopes: 0 }
    }

    pub fn cook(recipe: &Recipe, options: Options) -> Kitchen {
        let mut kitchen = Kitchen::new(recipe, options);
        for statement in &recipe.statements {
            kitchen.step(statement).unwrap();
        }
        kitchen
    }

    fn point(&self, n: usize) -> Point {
        self.points[n % self.points.len()]
    }

    fn bool(&self, n: usize) -> Bool {
        // Half of the choices are negated; false itself would make most formulas trivial.
        let index = n / 2 % self.bools.len();
        let term = self.bools[index];
        if n % 2 == 1 && index > 0 { self.solver.not(term).unwrap() } else { term }
    }

    /// A guard: true more often than not.
    fn guard(&self, n: usize) -> Bool {
        if n.is_multiple_of(3) { self.bool(n / 3) } else { self.solver.bool_const(true) }
    }

    fn word(&self, n: usize) -> Bv {
        self.words[n % self.words.len()]
    }

    pub fn step(&mut self, statement: &Statement) -> Result<()> {
        match statement {
            Statement::Fix(a, b) => {
                // A cycle is an error that changes nothing.
                let _ = self.solver.fix_before(self.point(*a), self.point(*b));
            }
            Statement::Constant(value) => {
                let width = self.words[0].width();
                let word = self.solver.bv_const(u128::from(*value), width)?;
                self.words.push(word);
            }
            Statement::Word { op, a, b, c } => {
                let word = self.word_op(*op, *a, *b, *c)?;
                self.words.push(word);
            }
            Statement::Compare { op, a, b } => {
                let (a, b) = (self.word(*a), self.word(*b));
                let s = &mut self.solver;
                let term = match op % 6 {
                    0 | 5 => s.bv_eq(a, b)?,
                    1 => s.bv_ult(a, b)?,
                    2 => s.bv_ule(a, b)?,
                    3 => s.bv_slt(a, b)?,
                    _ => s.bv_sle(a, b)?,
                };
                self.bools.push(term);
            }
            Statement::Before(a, b) => {
                let term = self.solver.before(self.point(*a), self.point(*b))?;
                self.bools.push(term);
            }
            Statement::Connect { op, a, b, c } => {
                let (a, b, c) = (self.bool(*a), self.bool(*b), self.bool(*c));
                let s = &mut self.solver;
                let term = match op % 7 {
                    0 => s.and(&[a, b])?,
                    1 => s.or(&[a, b, c])?,
                    2 => s.ite(a, b, c)?,
                    3 => s.iff(a, b)?,
                    4 => s.xor(a, b)?,
                    5 => s.at_most(1, &[a, b, c])?,
                    _ => s.implies(a, b)?,
                };
                self.bools.push(term);
            }
            Statement::Location { initial, writes, reads } => self.location(*initial, writes, reads)?,
            Statement::Exclude(sections) => {
                let sections: Vec<Section> = sections
                    .iter()
                    .map(|&[begin, end, when, shared]| Section {
                        begin: self.point(begin),
                        end: if end % 8 == 0 { None } else { self.point_after(begin, end) },
                        when: self.guard(when),
                        shared: shared % 4 == 0,
                    })
                    .collect();
                self.solver.exclude(&sections)?;
            }
            Statement::Match { takers, givers } => {
                let takers: Vec<Taker> = takers
                    .iter()
                    .map(|&[at, after, when]| Taker {
                        at: self.point(at),
                        after: (after % 2 == 0).then(|| self.point(after)),
                        when: self.guard(when),
                    })
                    .collect();
                let givers: Vec<Giver> = givers
                    .iter()
                    .map(|&[at, many, when]| Giver {
                        at: (at % 5 != 0).then(|| self.point(at)),
                        many: many % 4 == 0,
                        when: self.guard(when),
                    })
                    .collect();
                self.solver.matching(&takers, &givers)?;
            }
            Statement::BeforeIf(c, a, b) => {
                self.solver.before_if(self.bool(*c), self.point(*a), self.point(*b))?;
            }
            Statement::Assert(n) => self.solver.assert(self.bool(*n))?,
            Statement::Push => {
                self.solver.push();
                self.scopes += 1;
            }
            Statement::Pop => {
                if self.scopes > 0 {
                    self.solver.pop()?;
                    self.scopes -= 1;
                }
            }
            Statement::Solve(assumptions) => self.solve(assumptions)?,
        }
        Ok(())
    }

    /// A point later on the same chain, if there is one.
    fn point_after(&self, begin: usize, n: usize) -> Option<Point> {
        let begin = self.point(begin);
        let later: Vec<Point> = self
            .points
            .iter()
            .copied()
            .filter(|p| p.chain() == begin.chain() && p.position() > begin.position())
            .collect();
        (!later.is_empty()).then(|| later[n % later.len()])
    }

    fn word_op(&mut self, op: usize, a: usize, b: usize, c: usize) -> Result<Bv> {
        let (x, y, condition) = (self.word(a), self.word(b), self.bool(c));
        let width = x.width();
        let s = &mut self.solver;
        match op % 20 {
            0 => s.bv_add(x, y),
            1 => s.bv_sub(x, y),
            2 => s.bv_mul(x, y),
            3 => s.bv_udiv(x, y),
            4 => s.bv_urem(x, y),
            5 => s.bv_sdiv(x, y),
            6 => s.bv_srem(x, y),
            7 => s.bv_and(x, y),
            8 => s.bv_or(x, y),
            9 => s.bv_xor(x, y),
            10 => s.bv_shl(x, y),
            11 => s.bv_lshr(x, y),
            12 => s.bv_ashr(x, y),
            13 => s.bv_neg(x),
            14 => s.bv_not(x),
            15 => s.bv_ite(condition, x, y),
            16 => {
                // Wide and back: the high half of a product.
                let (x, y) = (s.bv_sign_extend(x, 2 * width)?, s.bv_zero_extend(y, 2 * width)?);
                let product = s.bv_mul(x, y)?;
                s.bv_extract(product, 2 * width - 1, width)
            }
            17 => {
                let both = s.bv_concat(x, y)?;
                let low = c as u32 % (width + 1);
                s.bv_extract(both, low + width - 1, low)
            }
            18 => {
                let one = s.bv_const(1, width)?;
                s.bv_add(x, one)
            }
            _ => {
                let three = s.bv_const(c as u128, width)?;
                let scaled = s.bv_mul(x, three)?;
                s.bv_add(scaled, y)
            }
        }
    }

    fn location(
        &mut self,
        initial: Option<usize>,
        writes: &[[usize; 4]],
        reads: &[[usize; 2]],
    ) -> Result<()> {
        let width = self.words[0].width();
        let initial = initial.map(|n| self.word(n));
        let values: Vec<Bv> = reads.iter().map(|_| self.solver.bv_var(width)).collect::<Result<_>>()?;
        let mut taken = Vec::new();
        let mut list = Vec::new();
        for &[at, value, when, plus] in writes {
            let at = self.point(at);
            if taken.contains(&at) {
                continue;
            }
            taken.push(at);
            // Often an earlier read of this very location plus a constant; seldom one at any time, so that values
            // may justify themselves.
            let earlier = reads.iter().zip(&values).filter(|([r, _], _)| {
                let r = self.point(*r);
                plus % 16 == 1 || (r.chain() == at.chain() && r.position() <= at.position())
            });
            let earlier: Vec<Bv> = earlier.map(|(_, &v)| v).collect();
            let value = if plus % 3 == 0 || earlier.is_empty() {
                self.word(value)
            } else {
                let constant = self.solver.bv_signed([0, 1, 2, 3, -1][plus / 3 % 5], width)?;
                self.solver.bv_add(earlier[value % earlier.len()], constant)?
            };
            list.push(Write { at, value, when: self.guard(when) });
        }
        let reads: Vec<Read> = reads
            .iter()
            .zip(&values)
            .map(|(&[at, when], &value)| {
                let likely = match when % 4 {
                    0 => Some(Source::Initial),
                    1 => Some(Source::Write(at % (list.len() + 1))),
                    _ => None,
                };
                Read { at: self.point(at), value, when: self.guard(when), likely }
            })
            .collect();
        self.solver.location(initial, &list, &reads)?;
        self.words.extend(values);
        Ok(())
    }

    fn solve(&mut self, assumptions: &[usize]) -> Result<()> {
        let assumptions: Vec<Bool> = assumptions.iter().map(|&n| self.bool(n)).collect();
        let script = self.solver.to_smtlib(&assumptions)?;
        let answer = self.solver.solve(&assumptions)?;
        if answer == Answer::Sat {
            let model = self.solver.model().unwrap();
            for &assumption in &assumptions {
                assert!(model.holds(assumption)?, "an assumption is false in the model");
            }
            let few = model.order_with_few_switches(&self.points)?;
            let any = model.order(&self.points)?;
            assert_eq!(few.len(), any.len());
            assert!(Solution::switches(&few) <= Solution::switches(&any), "{few:?} against {any:?}");
        }
        let core_script = match &answer {
            Answer::Unsat(core) if core.len() < assumptions.len() => Some(self.solver.to_smtlib(core)?),
            _ => None,
        };
        self.queries.push(Query { answer, script, core_script });
        Ok(())
    }
}

use solver::Solution;
