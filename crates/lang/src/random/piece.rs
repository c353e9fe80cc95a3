//! Pieces of threads: one statement, or several that belong together.

use super::Config;
use super::build::{
    alloc, assign, atomic, binary, call, dereference, if_else, index, number, run, statement, sync, variable,
    while_loop,
};
use super::environment::{
    ATOMIC, BARRIER, CONDITION, COUNTER, HEAP, LOCALS, MONITOR, MUTEXES, POINTERS, READY, RECURSIVE, RWLOCK,
    SEMAPHORE,
};
use super::expression::{atomic_value, condition, constant, local, mild, one_of, pointer, shared, value};
use crate::ast::{BinaryOp, Expr, Statement, StatementKind, TypeWord};
use proptest::prelude::*;
use std::ops::RangeInclusive;

/// Statements that are kept or left out together.
pub(super) type Piece = Vec<Statement>;

/// The body of a thread.
pub(super) fn pieces(config: &Config, count: RangeInclusive<usize>) -> BoxedStrategy<Vec<Piece>> {
    prop::collection::vec(labelled(config, piece(config)), count).boxed()
}

/// A piece whose first statement may have a label; labels get their numbers later.
fn labelled(config: &Config, piece: BoxedStrategy<Piece>) -> BoxedStrategy<Piece> {
    if !config.labels {
        return piece;
    }
    (piece, prop::bool::weighted(0.15))
        .prop_map(|(mut piece, labelled)| {
            if labelled && let Some(first) = piece.first_mut() {
                first.label = Some(super::build::name("e"));
            }
            piece
        })
        .boxed()
}

fn piece(config: &Config) -> BoxedStrategy<Piece> {
    let body = flat(config, 1..=3);
    one_of(vec![
        (true, 30, simple(config)),
        (config.branches, 8, branch(config, flat(config, 1..=2))),
        (config.locks, 8, section(config)),
        (config.locks, 2, try_section(config)),
        (config.recursive_locks, 2, body.prop_map(recursive_section).boxed()),
        (config.rwlocks, 4, rw_section(config)),
        (config.conditions, 5, monitor(config)),
        (config.semaphores, 4, semaphore(config)),
        (config.barriers, 2, Just(vec![sync("arrive", BARRIER)]).boxed()),
        (config.transactions, 12, flat(config, 2..=3).prop_map(|body| vec![atomic(body)]).boxed()),
        (config.loops, 4, counted_loop(config)),
        (
            config.loops,
            1,
            (condition(config), flat(config, 0..=1)).prop_map(|(c, b)| vec![while_loop(c, 2, b)]).boxed(),
        ),
        (config.heap, 3, heap(config)),
        (
            true,
            1,
            condition(config)
                .prop_map(|c| vec![if_else(c, vec![statement(StatementKind::Return(None))], None)])
                .boxed(),
        ),
    ])
}

/// Simple statements in a row.
fn flat(config: &Config, count: RangeInclusive<usize>) -> BoxedStrategy<Piece> {
    prop::collection::vec(simple(config), count).prop_map(|pieces| pieces.concat()).boxed()
}

/// A statement without others inside it.
fn simple(config: &Config) -> BoxedStrategy<Piece> {
    let compound =
        prop::sample::select(vec![BinaryOp::Add, BinaryOp::Subtract, BinaryOp::BitXor, BinaryOp::BitOr]);
    // An atomic variable has these operators too, as one step each.
    let modify = (compound, shared(config), value(config))
        .prop_map(|(op, target, value)| statement(StatementKind::Assign { target, op: Some(op), value }));
    let step = (shared(config), any::<bool>())
        .prop_map(|(target, up)| statement(StatementKind::Step { target, up }));
    let pick = prop::sample::select(&LOCALS[..]);
    let calls = prop_oneof![
        3 => (pick.clone(), pointer(config), constant())
            .prop_map(|(r, p, n)| assign(variable(r), call("add_to", vec![p, n]))),
        1 => Just(run("copy", vec![])),
    ];
    let stores = (shared(config), constant()).prop_map(|(x, v)| run("store", vec![x, v]));
    let fence = Just(run("fence", vec![]));
    let pointed =
        (prop::sample::select(&POINTERS[..]), pointer(config)).prop_map(|(p, to)| assign(variable(p), to));
    let one = |strategy: BoxedStrategy<Statement>| strategy.prop_map(|s| vec![s]).boxed();
    one_of(vec![
        (true, 10, one((shared(config), value(config)).prop_map(|(x, v)| assign(x, v)).boxed())),
        (true, 10, one((local(config), value(config)).prop_map(|(r, v)| assign(r, v)).boxed())),
        (true, 4, one(modify.boxed())),
        (true, 2, one(step.boxed())),
        (
            config.atomics,
            5,
            one((pick, atomic_value(config)).prop_map(|(r, v)| assign(variable(r), v)).boxed()),
        ),
        (config.atomics, 1, one(prop_oneof![stores, fence].boxed())),
        (config.atomics, 1, one(value(config).prop_map(|v| assign(variable(ATOMIC), v)).boxed())),
        (config.pointers, 2, one(pointed.boxed())),
        (config.calls, 2, one(calls.boxed())),
        (config.asserts, 4, one(mild(config).prop_map(|c| run("assert", vec![c])).boxed())),
        (config.assumes, 2, one(mild(config).prop_map(|c| run("assume", vec![c])).boxed())),
    ])
}

fn branch(config: &Config, body: BoxedStrategy<Piece>) -> BoxedStrategy<Piece> {
    (condition(config), body.clone(), prop::option::of(body))
        .prop_map(|(condition, then, otherwise)| vec![if_else(condition, then, otherwise)])
        .boxed()
}

fn around(before: Statement, body: Piece, after: Statement) -> Piece {
    std::iter::once(before).chain(body).chain([after]).collect()
}

/// A critical section, or one inside another, usually but not always in one order.
fn section(config: &Config) -> BoxedStrategy<Piece> {
    let single = (prop::sample::select(&MUTEXES[..]), flat(config, 1..=3))
        .prop_map(|(m, body)| around(sync("lock", m), body, sync("unlock", m)));
    let nested = (prop::bool::weighted(0.6), flat(config, 0..=1), flat(config, 1..=2), flat(config, 0..=1))
        .prop_map(|(ordered, before, inside, after)| {
            let [outer, inner] = if ordered { MUTEXES } else { [MUTEXES[1], MUTEXES[0]] };
            let inner = around(sync("lock", inner), inside, sync("unlock", inner));
            around(sync("lock", outer), [before, inner, after].concat(), sync("unlock", outer))
        });
    prop_oneof![4 => single, 2 => nested].boxed()
}

fn try_section(config: &Config) -> BoxedStrategy<Piece> {
    (prop::sample::select(&MUTEXES[..]), flat(config, 1..=2), prop::option::of(flat(config, 1..=1)))
        .prop_map(|(m, body, otherwise)| {
            let then = body.into_iter().chain([sync("unlock", m)]).collect();
            vec![if_else(call("trylock", vec![variable(m)]), then, otherwise)]
        })
        .boxed()
}

fn recursive_section(body: Piece) -> Piece {
    let inner = around(sync("lock", RECURSIVE), body, sync("unlock", RECURSIVE));
    around(sync("lock", RECURSIVE), inner, sync("unlock", RECURSIVE))
}

fn rw_section(config: &Config) -> BoxedStrategy<Piece> {
    let words = prop::sample::select(vec!["rdlock", "wrlock"]);
    let blocking = (words, flat(config, 1..=2))
        .prop_map(|(word, body)| around(sync(word, RWLOCK), body, sync("unlock", RWLOCK)));
    let words = prop::sample::select(vec!["tryrdlock", "trywrlock"]);
    let trying = (words, flat(config, 1..=2)).prop_map(|(word, body)| {
        let then = body.into_iter().chain([sync("unlock", RWLOCK)]).collect();
        vec![if_else(call(word, vec![variable(RWLOCK)]), then, None)]
    });
    prop_oneof![4 => blocking, 1 => trying].boxed()
}

/// What threads do with the condition variable: they wait until `ready` is set, or they set it and tell.
fn monitor(config: &Config) -> BoxedStrategy<Piece> {
    let objects = || vec![variable(CONDITION), variable(MONITOR)];
    let inside = |body: Piece| around(sync("lock", MONITOR), body, sync("unlock", MONITOR));
    let unset = || binary(BinaryOp::Equal, variable(READY), number(0));
    let waiting = any::<bool>().prop_map(move |looped| {
        let wait = run("wait", objects());
        let guarded =
            if looped { while_loop(unset(), 2, vec![wait]) } else { if_else(unset(), vec![wait], None) };
        inside(vec![guarded])
    });
    let timed = prop::sample::select(&LOCALS[..])
        .prop_map(move |r| inside(vec![assign(variable(r), call("timedwait", objects()))]));
    let bare = Just(vec![sync("wait", CONDITION)]);
    one_of(vec![
        (true, 5, telling(&["signal", "broadcast"]).boxed()),
        (true, 4, waiting.boxed()),
        (config.timed_waits, 1, timed.boxed()),
        (true, 1, bare.boxed()),
    ])
}

/// Sets `ready` and wakes somebody.
pub(super) fn telling(words: &'static [&'static str]) -> impl Strategy<Value = Piece> {
    prop::sample::select(words).prop_map(tell)
}

/// The statements of [`telling`].
pub(super) fn tell(word: &str) -> Piece {
    let body = vec![assign(variable(READY), number(1)), sync(word, CONDITION)];
    around(sync("lock", MONITOR), body, sync("unlock", MONITOR))
}

fn semaphore(config: &Config) -> BoxedStrategy<Piece> {
    let between = flat(config, 1..=2)
        .prop_map(|body| around(sync("acquire", SEMAPHORE), body, sync("release", SEMAPHORE)));
    let words = prop::sample::select(vec!["tryacquire", "value"]);
    let asking = (prop::sample::select(&LOCALS[..]), words)
        .prop_map(|(r, word)| vec![assign(variable(r), call(word, vec![variable(SEMAPHORE)]))]);
    prop_oneof![
        5 => between,
        2 => Just(vec![sync("release", SEMAPHORE)]),
        1 => Just(vec![sync("acquire", SEMAPHORE)]),
        2 => asking,
    ]
    .boxed()
}

/// `i = 0; while (i < n) bound 3 { …; i++; }`, sometimes left early.
fn counted_loop(config: &Config) -> BoxedStrategy<Piece> {
    let leave = prop::sample::select(vec![StatementKind::Break, StatementKind::Continue]);
    let leaving = prop::option::weighted(0.3, (condition(config), leave));
    (1_i64..=2, flat(config, 1..=2), leaving)
        .prop_map(|(n, body, leaving)| {
            let mut inside = vec![statement(StatementKind::Step { target: variable(COUNTER), up: true })];
            inside.extend(body);
            if let Some((condition, leave)) = leaving {
                inside.push(if_else(condition, vec![statement(leave)], None));
            }
            let go_on = binary(BinaryOp::Less, variable(COUNTER), number(n));
            vec![assign(variable(COUNTER), number(0)), while_loop(go_on, 3, inside)]
        })
        .boxed()
}

/// Heap memory that is used and given back, that another thread may get at, or that is given back too early.
fn heap(config: &Config) -> BoxedStrategy<Piece> {
    let get = || assign(variable(HEAP), alloc(TypeWord::Int, Some(2)));
    let free = || run("free", vec![variable(HEAP)]);
    let private = (0_i64..=1, value(config), prop::sample::select(&LOCALS[..])).prop_map(move |(n, v, r)| {
        let element = || -> Expr { index(HEAP, number(n)) };
        vec![get(), assign(element(), v), assign(variable(r), element()), free()]
    });
    let published = value(config)
        .prop_map(move |v| vec![get(), assign(variable("p"), variable(HEAP)), assign(dereference("p"), v)]);
    let early = value(config).prop_map(move |v| {
        vec![get(), assign(variable("p"), variable(HEAP)), assign(dereference("p"), v), free()]
    });
    one_of(vec![
        (true, 4, private.boxed()),
        (config.pointers, 2, published.boxed()),
        (config.pointers, 1, early.boxed()),
    ])
}
