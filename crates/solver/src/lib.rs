//! Questions about "before", Booleans and machine integers: SAT with a theory of order, memory and exclusion.
//!
//! Prediction asks, many times for one trace: *is there an order of these events, in which each read sees the last
//! write, locks are respected, branches go as recorded, and these three events come in this order?* This crate
//! answers such questions with [CaDiCaL](https://github.com/arminbiere/cadical) as the engine and a theory of its own
//! as an external propagator. It knows no events: only points in time, Boolean and bit-vector terms, and a few
//! constraints about points ([`Solver::location`], [`Solver::exclude`], [`Solver::matching`]).
//!
//! ```
//! use solver::{Answer, Read, Solver, Write};
//!
//! # fn main() -> solver::Result<()> {
//! let mut s = Solver::new();
//! // Two threads do `x = x + 1`: a read, then a write.
//! let (one, always) = (s.bv_const(1, 32)?, s.bool_const(true));
//! let (mut reads, mut writes) = (vec![], vec![]);
//! for _ in 0..2 {
//!     let thread = s.chain()?;
//!     let value = s.bv_var(32)?;
//!     reads.push(Read { at: s.point_on(thread)?, value, when: always, likely: None });
//!     let sum = s.bv_add(value, one)?;
//!     writes.push(Write { at: s.point_on(thread)?, value: sum, when: always });
//! }
//! let zero = s.bv_const(0, 32)?;
//! s.location(Some(zero), &writes, &reads)?;
//!
//! // Can both threads read zero, so that one increment is lost?
//! let lost = [s.bv_eq(reads[0].value, zero)?, s.bv_eq(reads[1].value, zero)?];
//! assert_eq!(s.solve(&lost)?, Answer::Sat);
//!
//! // Not if the first thread is done before the second begins.
//! let first = s.before(writes[0].at, reads[1].at)?;
//! let Answer::Unsat(core) = s.solve(&[lost[0], lost[1], first])? else { panic!() };
//! assert!(core.contains(&first));
//! # Ok(())
//! # }
//! ```
//!
//! # How it works
//!
//! ```text
//!   Solver ── terms ──▶ rewriting as words ──▶ bit-blasting ──┐ clauses
//!     │       (terms)   (linear forms, facts)  (blast)        ▼
//!     │                                                   ┌─────────┐  assignments, backtracks
//!     ├── locations, ── encode ── theory constraints ──▶  │ CaDiCaL │ ───────────────────────▶ theory
//!     │   sections,               (theory)                └─────────┘ ◀─────────────────────── propagations with
//!     │   matchings                                           │        conflicts, reasons      lazy reasons
//!     ▼                                                       ▼
//!   SMT-LIB 2 (smtlib)                       model ── reduce ──▶ an order with few switches
//! ```
//!
//! **Points and chains.** Points of one thread lie on a *chain*; their order is their position and costs nothing.
//! Order across chains is a literal, `before(a, b)`; time is a total order, so its negation is `before(b, a)`. When the
//! search assigns such a literal, the theory gets an edge.
//!
//! **The closure** (`order::closure`). For two chains A and B, "the last point of A that is before this point of B"
//! only grows along B: it is a staircase with few steps. All staircases together are the transitive closure of all
//! edges that hold, a vector clock of every point at once:
//!
//! ```text
//!   chain A   a0 ──▶ a1 ──▶ a2 ──▶ a3         staircase A→B   at b1: a0,  at b3: a2
//!              ╲              ╲
//!               ▼              ▼              new edge a1 → b2:
//!   chain B   b0 ─▶ b1 ──▶ b2 ──▶ b3            at b1: a0,  at b2: a1,  at b3: a2
//! ```
//!
//! A new edge `u → v` orders exactly (what is before `u`) × (what is after `v`): one new step in each of at most
//! k² staircases for k chains, however many points there are. Whether the edge closes a cycle is one binary search.
//! Each step that changes reports a rectangle of newly ordered pairs, and the literals that lie in that rectangle
//! (`theory::watch`) are propagated. Undoing pops a log.
//!
//! **Reasons** (`order::graph`). A propagated literal remembers two points and how many edges there were. Only if
//! conflict analysis asks is a path looked for, breadth first over chains, so it has the fewest edges; its literals are
//! the reason. Conflicts are shortest cycles, in the same way.
//!
//! **Memory** (`theory::memory`). Which write a read reads from is a literal per possible source, and the order of two
//! writes of one location is a literal. The third part of the story, the *from-read* edge, has no literal and no
//! clauses: it is derived, with the two literals as its cause.
//!
//! ```text
//!            reads from                 If r reads from w, and w is before w',
//!        w ─────────────▶ r             then r is before w':  the dotted edge.
//!        │                ┊
//!        │ before         ┊ from-read   If r reads from w, and w' is before r: then w' is before w.
//!        ▼                ▼             If w is before w', and w' is before r: then r does not read from w.
//!        w' ◀┄┄┄┄┄┄┄┄┄┄┄┄┄┘
//! ```
//!
//! As clauses this would be cubic in the size of a location ([AV §4.2] writes it so, and so does the SMT-LIB
//! export). Sections that exclude each other get one literal per pair, "which begins first", and the edge "the first
//! ends before the second begins" is derived in the same way (`theory::sections`).
//!
//! **Values** (`terms`, `blast`). Terms are hash-consed and rewritten as words: constants, linear normal forms, known
//! bits and ranges. Range analysis across reads and writes (`ranges`) says how many bits a value that flows
//! through memory can need; only those are blasted. Multipliers and dividers are built only when a model gets one
//! wrong.
//!
//! **Counting** (`increments`, `blast::bounds`). What is infeasible because of values is often so because a count cannot
//! be reached without an increment that now comes too late. Search would try the increments in every order. So a read
//! that is compared with a constant gets a clause set that counts the increments before it, and values of locations with
//! many writes get literals for "at least k" that flow along reads-from.
//!
//! # How we know that it is right
//!
//! Every clause that the theory gives to CaDiCaL is a cycle (or two sources of one read) and can be checked by itself:
//! `check` does so with plain searches, knowing only what was declared. Every model is evaluated by a plain
//! evaluator along its total order. Both are on in debug builds ([`Options::check`]). `tests/all/against_z3.rs` compares
//! answers and cores on random formulas with z3, `tests/all/scripts_against_z3.rs` answers and models of random scripts;
//! `tests/all/proofs.rs` gives clausal proofs to an independent DRAT checker; `make solver-contracts` runs the random
//! formulas and scripts on a CaDiCaL with its own checks on.
//!
//! # To change it
//!
//! * *A new constraint about points*: a `Role` for its literals, a handler that calls `add_edge` (derived edges) or
//!   `propagate`, a `Cause` with the literals it depends on; then the same in `check`, `problem` (its plain meaning),
//!   `reduce`, and the SMT-LIB export; then a statement in `tests/all/support/recipe.rs`.
//! * *A new bit-vector operation*: a `BvNode`, its meaning in `terms::value` and `terms::eval`, its facts, its circuit,
//!   its SMT-LIB name; `tests/all/bit_vectors.rs` has a list of operations.
//! * *Rules of the interface to CaDiCaL*: variables that the theory looks at are observed when they are made; external
//!   clauses use observed variables only; no new variables during search; backtracking must be in order (`chrono` is off).
//!
//! # Speed
//!
//! `make bench-solver` generates traces (family `p`: few writers per variable, `h`: many; 4 threads unless `x8` says
//! otherwise) and asks for 20 candidates of each, one after the other, as assumptions. CPU seconds of whole processes, 15 November
//! 2026, on a machine with 2 cores that did other work too, 60 s of wall time for each; k/20 is how many were answered by
//! then, verdicts were equal wherever both answered:
//!
//! | | p100 | p300 | p1000 | h300 |
//! |---|---|---|---|---|
//! | this crate | 0.005 | 0.008 | 0.024 | 0.13 |
//! | z3, integers | 0.065 | 0.52 | 17.3 | 16.7 |
//! | z3, integers for order and bit-vectors for values | 0.12 | 0.61 | 29.7 | 10/20 in 27.5 |
//! | z3, bit-vectors | 0.71 | 3.9 | 32.3 | 10/20 in 28.8 |
//! | cvc5, integers | 0.26 | 3.5 | 3/20 in 50.0 | 1/20 in 26.8 |
//! | cvc5, both | 0.49 | 5.6 | 0/20 in 42.1 | 1/20 in 29.4 |
//! | cvc5, bit-vectors | 0/20 in 54.1 | 0/20 in 43.8 | 0/20 in 40.2 | 1/20 in 31.9 |
//!
//! So at p1000 the best of the others takes 725 times as long. In peak memory it is 9 MiB beside 201 MiB (z3, integers) and 93 MiB (cvc5).
//!
//! Ours alone: p10000 takes 0.40 s and 47 MiB (0.12 s of it encoding, wall), h1000 0.28 s, h3000 1.3 s, p10000x8 1.2 s; h1000x8, where
//! single candidates are infeasible because of values, 1.7 to 5.7 s for six seeds.
//!
//! Where the instructions go, by `valgrind --tool=callgrind` on `bench_solver --ours p1000 1` (158 million in all, 89 million of them in
//! CaDiCaL's `solve`): 36 million in `notify_assignment` (edges, closure, watches, derived edges: 1,200 for each of 29,926
//! edges), 2.5 million in `cb_propagate`, 1.9 million in `notify_backtrack`, 16 million in CaDiCaL's own propagation.
//! Allocations, from the callers of `__rust_alloc` in such a profile: 14,758 in all, while declaring, encoding and making models; in the
//! callbacks of the search only `Closure::add`, which lets its staircases grow 16 times for all the edges.
//!
//! # Limits
//!
//! * Order between chains takes memory for each pair of chains that has any: a chain per thread is what it is made for;
//!   hundreds of chains with one point each are fine, tens of thousands are not.
//! * A location has a literal for each pair of its writes and for each possible source of each read: thousands of writes
//!   of one location in one query should be cut into windows first.
//! * A [`Solver`] stays on its thread (many solvers on many threads are fine); an [`Interrupter`] goes anywhere.
//! * Structure (points, fixed edges, locations, exclusions, matchings, conditional edges) is permanent; scopes are for
//!   assertions. What must go away later gets a `when`.

mod api;
mod blast;
mod check;
mod declare;
mod encode;
mod error;
mod increments;
mod limits;
mod linearize;
mod lit;
mod model;
mod order;
mod problem;
mod proof;
mod ranges;
mod reduce;
mod sat;
mod smtlib;
mod solution;
mod solver;
mod structure;
mod terms;
mod theory;

pub use error::{Error, Result};
pub use limits::{Interrupter, Limits, Stop};
pub use order::{Chain, Point};
pub use smtlib::{Outcome, Script};
pub use solution::Solution;
pub use solver::{Answer, Options, Solver, Statistics};
pub use structure::{Giver, Location, Matching, Read, Section, Source, Taker, Write};
pub use terms::{Bool, Bv, MAX_WIDTH};
pub use theory::TheoryStatistics;
