//! The interface: scopes, assumptions, cores, limits, interruption, models, errors.

// Failing by `unwrap` is what a test does.
#![allow(clippy::unwrap_used)]

use solver::{
    Answer, Bool, Error, Giver, Limits, Options, Point, Read, Result, Section, Solution, Solver, Source,
    Stop, Taker, Write,
};
use std::time::{Duration, Instant};

fn unsat(answer: Answer) -> Vec<Bool> {
    match answer {
        Answer::Unsat(core) => core,
        other => panic!("expected unsat, got {other:?}"),
    }
}

#[test]
fn a_cycle_is_impossible_and_the_core_names_it() -> Result<()> {
    let mut s = Solver::new();
    let p: Vec<Point> = (0..4).map(|_| s.point()).collect::<Result<_>>()?;
    let mut edges = vec![];
    for (a, b) in [(0, 1), (1, 2), (2, 0), (2, 3)] {
        edges.push(s.before(p[a], p[b])?);
    }
    let mut core = unsat(s.solve(&edges)?);
    core.sort();
    let mut cycle = edges[..3].to_vec();
    cycle.sort();
    assert_eq!(core, cycle);
    assert_eq!(s.solve(&edges[1..])?, Answer::Sat);
    let model = s.model().unwrap();
    assert_eq!(model.order(&[p[0], p[1], p[2]])?, [p[1], p[2], p[0]]);
    Ok(())
}

#[test]
fn scopes_take_back_their_assertions_only() -> Result<()> {
    let mut s = Solver::new();
    let x = s.bool_var();
    let not_x = s.not(x)?;
    s.assert(x)?;
    s.push();
    s.assert(not_x)?;
    assert_eq!(unsat(s.solve(&[])?), []);
    s.pop()?;
    assert_eq!(s.solve(&[])?, Answer::Sat);
    s.push();
    s.push();
    s.assert(not_x)?;
    s.pop()?;
    assert_eq!(s.solve(&[])?, Answer::Sat);
    s.pop()?;
    assert_eq!(s.pop(), Err(Error::NoScope));
    Ok(())
}

#[test]
fn a_read_sees_the_last_write_before_it() -> Result<()> {
    // w1(1) and w2(2) on one chain, a read on another: 1 can be seen only between them.
    let mut s = Solver::new();
    let (writer, reader) = (s.chain()?, s.chain()?);
    let (w1, w2, r) = (s.point_on(writer)?, s.point_on(writer)?, s.point_on(reader)?);
    let always = s.bool_const(true);
    let value = s.bv_var(8)?;
    let (zero, one, two) = (s.bv_const(0, 8)?, s.bv_const(1, 8)?, s.bv_const(2, 8)?);
    let writes = [Write { at: w1, value: one, when: always }, Write { at: w2, value: two, when: always }];
    let read = Read { at: r, value, when: always, likely: None };
    let location = s.location(Some(zero), &writes, &[read])?;
    for (constant, source) in [(zero, Source::Initial), (one, Source::Write(0)), (two, Source::Write(1))] {
        let seen = s.bv_eq(value, constant)?;
        assert_eq!(s.solve(&[seen])?, Answer::Sat);
        assert_eq!(s.model().unwrap().source(location, 0)?, Some(source));
    }
    let (late, saw_one) = (s.before(w2, r)?, s.bv_eq(value, one)?);
    assert_eq!(unsat(s.solve(&[late, saw_one])?).len(), 2);
    Ok(())
}

#[test]
fn a_read_modify_write_lets_nothing_between() -> Result<()> {
    // Two increments that are atomic: never both from 0.
    let mut s = Solver::new();
    let points = [s.point()?, s.point()?];
    let always = s.bool_const(true);
    let one = s.bv_const(1, 8)?;
    let values = [s.bv_var(8)?, s.bv_var(8)?];
    let mut writes = vec![];
    let mut reads = vec![];
    for i in 0..2 {
        let value = s.bv_add(values[i], one)?;
        writes.push(Write { at: points[i], value, when: always });
        reads.push(Read { at: points[i], value: values[i], when: always, likely: None });
    }
    let zero = s.bv_const(0, 8)?;
    s.location(Some(zero), &writes, &reads)?;
    let same = s.bv_eq(values[0], values[1])?;
    unsat(s.solve(&[same])?);
    let two_first = s.bv_eq(values[0], one)?;
    assert_eq!(s.solve(&[two_first])?, Answer::Sat);
    assert!(s.model().unwrap().before(points[1], points[0])?);
    Ok(())
}

#[test]
fn sections_exclude_each_other_unless_both_are_shared() -> Result<()> {
    let mut s = Solver::new();
    let always = s.bool_const(true);
    let mut sections = vec![];
    for _ in 0..3 {
        let chain = s.chain()?;
        let (begin, end) = (s.point_on(chain)?, s.point_on(chain)?);
        sections.push(Section { begin, end: Some(end), when: always, shared: true });
    }
    sections[2].shared = false;
    s.exclude(&sections)?;
    let inside = |s: &mut Solver, a: usize, b: usize| {
        let (x, y) = (s.before(sections[a].begin, sections[b].begin)?, sections[a].end.unwrap());
        let y = s.before(sections[b].begin, y)?;
        s.solve(&[x, y])
    };
    assert_eq!(inside(&mut s, 0, 1)?, Answer::Sat);
    unsat(inside(&mut s, 0, 2)?);
    unsat(inside(&mut s, 2, 1)?);
    Ok(())
}

#[test]
fn a_section_without_end_lets_no_other_follow() -> Result<()> {
    let mut s = Solver::new();
    let always = s.bool_const(true);
    let (a, b) = (s.point()?, s.point()?);
    let chain = s.chain()?;
    let (c, d) = (s.point_on(chain)?, s.point_on(chain)?);
    let open = Section { begin: a, end: None, when: always, shared: false };
    let closed = Section { begin: c, end: Some(d), when: always, shared: false };
    s.exclude(&[open, closed])?;
    let first = s.before(a, c)?;
    unsat(s.solve(&[first])?);
    assert_eq!(s.solve(&[])?, Answer::Sat);
    assert!(s.model().unwrap().before(d, a)?);
    let two_open = Section { begin: b, ..open };
    s.exclude(&[open, two_open])?;
    unsat(s.solve(&[])?);
    Ok(())
}

#[test]
fn tokens_are_not_used_twice() -> Result<()> {
    let mut s = Solver::new();
    let always = s.bool_const(true);
    let takers: Vec<Taker> =
        (0..3).map(|_| Ok(Taker { at: s.point()?, after: None, when: always })).collect::<Result<_>>()?;
    let post = s.point()?;
    let givers =
        [Giver { at: None, many: false, when: always }, Giver { at: Some(post), many: false, when: always }];
    let pair = s.matching(&takers[..2], &givers)?;
    assert_eq!(s.solve(&[])?, Answer::Sat);
    let model = s.model().unwrap();
    let used = [model.giver(pair, 0)?, model.giver(pair, 1)?];
    assert!(used == [Some(0), Some(1)] || used == [Some(1), Some(0)]);
    s.matching(&takers, &givers)?;
    unsat(s.solve(&[])?);
    Ok(())
}

#[test]
fn a_broadcast_serves_all_that_wait() -> Result<()> {
    let mut s = Solver::new();
    let always = s.bool_const(true);
    let mut takers = vec![];
    for _ in 0..3 {
        let chain = s.chain()?;
        let (begin, end) = (s.point_on(chain)?, s.point_on(chain)?);
        takers.push(Taker { at: end, after: Some(begin), when: always });
    }
    let broadcast = s.point()?;
    s.matching(&takers, &[Giver { at: Some(broadcast), many: true, when: always }])?;
    assert_eq!(s.solve(&[])?, Answer::Sat);
    let late = s.before(broadcast, takers[1].after.unwrap())?;
    unsat(s.solve(&[late])?);
    Ok(())
}

#[test]
fn few_switches_are_fewer_than_the_recorded_ones() -> Result<()> {
    let mut s = Solver::with_options(Options { check: true, proof: false });
    let chains = [s.chain()?, s.chain()?, s.chain()?];
    let mut points = vec![];
    for i in 0..60 {
        points.push(s.point_on(chains[i % 3])?);
    }
    s.fix_before(points[30], points[7])?;
    assert_eq!(s.solve(&[])?, Answer::Sat);
    let order = s.model().unwrap().order_with_few_switches(&points)?;
    assert_eq!(order.len(), 60);
    assert_eq!(Solution::switches(&order), 2);
    Ok(())
}

/// A problem that takes long: more pigeons than holes.
fn pigeons(s: &mut Solver, holes: usize) -> Result<()> {
    let grid: Vec<Vec<Bool>> = (0..=holes).map(|_| (0..holes).map(|_| s.bool_var()).collect()).collect();
    for pigeon in &grid {
        let somewhere = s.or(pigeon)?;
        s.assert(somewhere)?;
    }
    for hole in 0..holes {
        let here: Vec<Bool> = grid.iter().map(|p| p[hole]).collect();
        let alone = s.at_most(1, &here)?;
        s.assert(alone)?;
    }
    Ok(())
}

#[test]
fn limits_and_interruption_give_unknown_with_the_reason() -> Result<()> {
    let mut s = Solver::new();
    pigeons(&mut s, 12)?;
    s.set_limits(Limits { conflicts: Some(50), ..Limits::default() });
    assert_eq!(s.solve(&[])?, Answer::Unknown(Stop::Conflicts));
    s.set_limits(Limits { time: Some(Duration::from_millis(50)), ..Limits::default() });
    let start = Instant::now();
    assert_eq!(s.solve(&[])?, Answer::Unknown(Stop::Time));
    assert!(start.elapsed() < Duration::from_secs(60));
    s.set_limits(Limits { memory: Some(1), ..Limits::default() });
    assert_eq!(s.solve(&[])?, Answer::Unknown(Stop::Memory));
    s.set_limits(Limits::default());
    let interrupter = s.interrupter();
    let other = interrupter.clone();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        other.interrupt();
    });
    assert_eq!(s.solve(&[])?, Answer::Unknown(Stop::Interrupted));
    thread.join().unwrap();
    assert_eq!(s.solve(&[])?, Answer::Unknown(Stop::Interrupted), "it stays in force");
    interrupter.clear();
    s.set_limits(Limits { conflicts: Some(1), ..Limits::default() });
    assert_eq!(s.solve(&[])?, Answer::Unknown(Stop::Conflicts));
    Ok(())
}

#[test]
fn wrong_calls_are_errors_and_change_nothing() -> Result<()> {
    let (mut s, mut other) = (Solver::new(), Solver::new());
    let (a, b, foreign) = (s.point()?, s.point()?, other.point()?);
    s.fix_before(a, b)?;
    assert_eq!(s.fix_before(b, a), Err(Error::FixedCycle(a, b)));
    assert_eq!(s.fix_before(a, a), Err(Error::FixedCycle(a, a)));
    assert_eq!(s.before(a, foreign), Err(Error::Foreign));
    assert_eq!(other.solve(&[s.bool_var()]), Err(Error::Foreign));
    assert_eq!(s.bv_var(0), Err(Error::Width(0)));
    assert_eq!(s.bv_const(1, 129), Err(Error::Width(129)));
    let (x, y) = (s.bv_var(8)?, s.bv_var(9)?);
    assert_eq!(s.bv_add(x, y), Err(Error::MixedWidths { left: 8, right: 9 }));
    assert_eq!(s.bv_extract(x, 8, 0), Err(Error::Extract { high: 8, low: 0, width: 8 }));
    assert_eq!(s.bv_extract(x, 2, 3), Err(Error::Extract { high: 2, low: 3, width: 8 }));
    let wide = s.bv_var(100)?;
    assert_eq!(s.bv_concat(wide, wide), Err(Error::Width(200)));
    let always = s.bool_const(true);
    let read = Read { at: a, value: x, when: always, likely: None };
    assert_eq!(s.location(None, &[], &[read, read]), Err(Error::ReadValue));
    let write = Write { at: a, value: x, when: always };
    assert_eq!(s.location(None, &[write, write], &[]), Err(Error::SamePoint(a)));
    let section = Section { begin: b, end: Some(a), when: always, shared: false };
    assert_eq!(s.exclude(&[section]), Err(Error::Backwards(b, a)));
    assert_eq!(s.solve(&[])?, Answer::Sat);
    Ok(())
}

#[test]
fn a_million_points_in_a_few_chains_cost_little() -> Result<()> {
    let mut s = Solver::with_options(Options { check: false, proof: false });
    let chains = [s.chain()?, s.chain()?, s.chain()?, s.chain()?];
    let mut last = vec![];
    for chain in chains {
        let mut points = Vec::new();
        for _ in 0..250_000 {
            points.push(s.point_on(chain)?);
        }
        last.push(points);
    }
    for i in (0..249_000).step_by(1000) {
        for c in 0..3 {
            s.fix_before(last[c][i], last[c + 1][i + 1])?;
        }
    }
    let forward = s.before(last[0][0], last[3][248_999])?;
    assert_eq!(forward, s.bool_const(true));
    let mut edges = vec![];
    for i in (0..249_000).step_by(500) {
        edges.push(s.before(last[3][i], last[0][i + 700])?);
    }
    assert_eq!(s.solve(&edges)?, Answer::Sat);
    let back = s.before(last[3][100_003], last[0][100_000])?;
    let through = s.before(last[1][99_999], last[3][100_002])?;
    let ahead = s.before(last[0][100_000], last[1][99_998])?;
    unsat(s.solve(&[back, through, ahead])?);
    Ok(())
}

#[test]
fn learning_from_earlier_queries_never_changes_answers() -> Result<()> {
    let mut s = Solver::new();
    let p: Vec<Point> = (0..6).map(|_| s.point()).collect::<Result<_>>()?;
    let mut all = vec![];
    for i in 0..6 {
        for j in 0..6 {
            if i != j {
                all.push((i, j, s.before(p[i], p[j])?));
            }
        }
    }
    for round in 0..200usize {
        let chosen: Vec<_> = (0..7).map(|k| all[(round * 31 + k * k * 7 + k) % all.len()]).collect();
        let assumptions: Vec<Bool> = chosen.iter().map(|c| c.2).collect();
        // Plain search for a cycle.
        let mut reach = [[false; 6]; 6];
        chosen.iter().for_each(|&(i, j, _)| reach[i][j] = true);
        for k in 0..6 {
            for i in 0..6 {
                for j in 0..6 {
                    reach[i][j] |= reach[i][k] && reach[k][j];
                }
            }
        }
        let cyclic = (0..6).any(|i| reach[i][i]);
        assert_eq!(s.solve(&assumptions)? != Answer::Sat, cyclic, "round {round}");
    }
    Ok(())
}

#[test]
fn a_count_needs_its_increments_and_that_is_seen_without_search() -> Result<()> {
    // Twelve threads increment x; a reader that sees all twelve is before none of them.
    let mut s = Solver::new();
    let always = s.bool_const(true);
    let (zero, one, all) = (s.bv_const(0, 32)?, s.bv_const(1, 32)?, s.bv_const(12, 32)?);
    let (mut reads, mut writes) = (vec![], vec![]);
    for _ in 0..12 {
        let thread = s.chain()?;
        let value = s.bv_var(32)?;
        reads.push(Read { at: s.point_on(thread)?, value, when: always, likely: None });
        let sum = s.bv_add(value, one)?;
        writes.push(Write { at: s.point_on(thread)?, value: sum, when: always });
    }
    let last = Read { at: s.point()?, value: s.bv_var(32)?, when: always, likely: None };
    reads.push(last);
    s.location(Some(zero), &writes, &reads)?;
    s.set_limits(Limits { conflicts: Some(1000), ..Limits::default() });
    for write in &writes {
        let (high, late) = (s.bv_sle(all, last.value)?, s.before(last.at, write.at)?);
        assert_eq!(unsat(s.solve(&[high, late])?).len(), 2);
        assert_eq!(s.statistics().conflicts, 0);
        let (exact, late) = (s.bv_eq(last.value, all)?, s.before(last.at, write.at)?);
        assert_eq!(unsat(s.solve(&[exact, late])?).len(), 2);
    }
    let high = s.bv_sle(all, last.value)?;
    assert_eq!(s.solve(&[high])?, Answer::Sat);
    Ok(())
}

#[test]
fn bounds_that_flow_do_not_forget_that_sums_wrap() -> Result<()> {
    // Many writes of x + 1 for any x: what is read is negative if x is the largest number.
    let mut s = Solver::new();
    let always = s.bool_const(true);
    let (x, one, zero) = (s.bv_var(8)?, s.bv_const(1, 8)?, s.bv_const(0, 8)?);
    let next = s.bv_add(x, one)?;
    let writes: Vec<Write> =
        (0..20).map(|_| Ok(Write { at: s.point()?, value: next, when: always })).collect::<Result<_>>()?;
    let read = Read { at: s.point()?, value: s.bv_var(8)?, when: always, likely: None };
    s.location(None, &writes, &[read])?;
    let (largest, hundred) = (s.bv_const(127, 8)?, s.bv_const(100, 8)?);
    let (at_the_end, high) = (s.bv_eq(x, largest)?, s.bv_slt(hundred, x)?);
    let negative = s.bv_slt(read.value, zero)?;
    let positive = s.not(negative)?;
    assert_eq!(s.solve(&[at_the_end, negative])?, Answer::Sat);
    assert_eq!(unsat(s.solve(&[at_the_end, positive])?).len(), 2);
    assert_eq!(s.solve(&[high, positive])?, Answer::Sat);
    Ok(())
}
