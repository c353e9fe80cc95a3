//! Random expressions.

use super::Config;
use super::build::{
    address, binary, call, cast, conditional, dereference, index, null, number, unary, variable,
};
use super::environment::{ARRAY, ARRAY_COUNT, ATOMIC, LOCALS, NARROW, POINTERS, SHARED, WIDE};
use crate::ast::{BinaryOp, Expr, TypeWord, UnaryOp};
use crate::types::IntType;
use proptest::prelude::*;

/// Alternatives with weights; those whose switch is off are left out. The first is what shrinking goes to.
pub(super) fn one_of<T: std::fmt::Debug + 'static>(
    alternatives: Vec<(bool, u32, BoxedStrategy<T>)>,
) -> BoxedStrategy<T> {
    let chosen = alternatives.into_iter().filter(|(on, ..)| *on).map(|(_, weight, s)| (weight, s)).collect();
    proptest::strategy::Union::new_weighted(chosen).boxed()
}

/// A small number, now and then one at the edge of a width.
pub(super) fn constant() -> BoxedStrategy<Expr> {
    let edges = prop::sample::select(vec![-1_i64, 127, 255, 256, 65_535, 2_147_483_647, 4_294_967_296]);
    prop_oneof![9 => (0_i64..=3).prop_map(number), 1 => edges.prop_map(number)].boxed()
}

/// Something in memory that holds an integer.
pub(super) fn shared(config: &Config) -> BoxedStrategy<Expr> {
    let element = (0..ARRAY_COUNT).prop_map(|n| index(ARRAY, number(n as i64)));
    let computed = prop::sample::select(&LOCALS[..]).prop_map(|local| {
        // Cut to the array's bounds, so that it seldom faults.
        index(ARRAY, binary(BinaryOp::BitAnd, variable(local), number(1)))
    });
    let wild = prop::sample::select(&LOCALS[..]).prop_map(|local| index(ARRAY, variable(local)));
    one_of(vec![
        (true, 16, prop::sample::select(&SHARED[..]).prop_map(variable).boxed()),
        (config.arrays, 3, element.boxed()),
        (config.arrays, 2, computed.boxed()),
        (config.arrays, 1, wild.boxed()),
        (config.pointers, 3, prop::sample::select(&POINTERS[..]).prop_map(dereference).boxed()),
        (config.widths, 3, prop::sample::select(&WIDE[..]).prop_map(variable).boxed()),
        (config.atomics, 2, Just(variable(ATOMIC)).boxed()),
    ])
}

/// A local that holds an integer.
pub(super) fn local(config: &Config) -> BoxedStrategy<Expr> {
    one_of(vec![
        (true, 6, prop::sample::select(&LOCALS[..]).prop_map(variable).boxed()),
        (config.widths, 1, Just(variable(NARROW)).boxed()),
    ])
}

fn leaf(config: &Config) -> BoxedStrategy<Expr> {
    prop_oneof![3 => constant(), 3 => local(config), 4 => shared(config)].boxed()
}

/// An integer value, at most two operators deep.
pub(super) fn value(config: &Config) -> BoxedStrategy<Expr> {
    prop_oneof![5 => leaf(config), 4 => operation(config, leaf(config)), 1 => operation(config, operation(config, leaf(config)))]
        .boxed()
}

fn operation(config: &Config, operand: BoxedStrategy<Expr>) -> BoxedStrategy<Expr> {
    let (a, b, c) = (operand.clone(), operand.clone(), operand.clone());
    let arithmetic = prop::sample::select(vec![
        BinaryOp::Add,
        BinaryOp::Subtract,
        BinaryOp::Multiply,
        BinaryOp::BitAnd,
        BinaryOp::BitOr,
        BinaryOp::BitXor,
    ]);
    let shift = prop::sample::select(vec![BinaryOp::ShiftLeft, BinaryOp::ShiftRight]);
    let divide = prop::sample::select(vec![BinaryOp::Divide, BinaryOp::Remainder]);
    let divisor = prop_oneof![12 => (1_i64..=3).prop_map(number), 1 => local(config)];
    let sign = prop::sample::select(vec![UnaryOp::Negate, UnaryOp::Complement, UnaryOp::Not]);
    let widths = prop::sample::select(vec![
        TypeWord::Sized(IntType::U8),
        TypeWord::Sized(IntType::I8),
        TypeWord::Sized(IntType::U32),
        TypeWord::Sized(IntType::I64),
    ]);
    one_of(vec![
        (true, 8, (arithmetic, a.clone(), b.clone()).prop_map(|(op, a, b)| binary(op, a, b)).boxed()),
        (true, 3, (comparison(), a.clone(), b.clone()).prop_map(|(op, a, b)| binary(op, a, b)).boxed()),
        (true, 1, (sign, a.clone()).prop_map(|(op, a)| unary(op, a)).boxed()),
        (true, 1, (shift, a.clone(), 0_i64..=33).prop_map(|(op, a, n)| binary(op, a, number(n))).boxed()),
        (config.division, 1, (divide, a.clone(), divisor).prop_map(|(op, a, b)| binary(op, a, b)).boxed()),
        (config.widths, 1, (widths, a.clone()).prop_map(|(word, a)| cast(word, a)).boxed()),
        (config.branches, 1, (a, b, c).prop_map(|(a, b, c)| conditional(a, b, c)).boxed()),
    ])
}

fn comparison() -> BoxedStrategy<BinaryOp> {
    prop::sample::select(vec![
        BinaryOp::Equal,
        BinaryOp::NotEqual,
        BinaryOp::Less,
        BinaryOp::LessEqual,
        BinaryOp::Greater,
        BinaryOp::GreaterEqual,
    ])
    .boxed()
}

/// A condition, usually on something shared.
pub(super) fn condition(config: &Config) -> BoxedStrategy<Expr> {
    let operand = prop_oneof![3 => shared(config), 2 => local(config)].boxed();
    let compared = (comparison(), operand, constant()).prop_map(|(op, a, b)| binary(op, a, b)).boxed();
    let logical = prop::sample::select(vec![BinaryOp::And, BinaryOp::Or]);
    let joined = (logical, compared.clone(), compared.clone()).prop_map(|(op, a, b)| binary(op, a, b));
    let pointer =
        prop::sample::select(&POINTERS[..]).prop_map(|p| binary(BinaryOp::NotEqual, variable(p), null()));
    one_of(vec![
        (true, 8, compared),
        (true, 2, joined.boxed()),
        (true, 1, shared(config)),
        (config.pointers, 1, pointer.boxed()),
    ])
}

/// A condition that holds more often than not.
pub(super) fn mild(config: &Config) -> BoxedStrategy<Expr> {
    let op = prop::sample::select(vec![BinaryOp::NotEqual, BinaryOp::LessEqual]);
    let operand = prop_oneof![4 => shared(config), 1 => local(config)];
    (op, operand, 0_i64..=3).prop_map(|(op, a, n)| binary(op, a, number(n))).boxed()
}

/// An address of an int.
pub(super) fn pointer(config: &Config) -> BoxedStrategy<Expr> {
    let element = (0..ARRAY_COUNT).prop_map(|n| address(index(ARRAY, number(n as i64))));
    one_of(vec![
        (true, 4, prop::sample::select(&SHARED[..]).prop_map(|x| address(variable(x))).boxed()),
        (config.pointers, 2, prop::sample::select(&POINTERS[..]).prop_map(variable).boxed()),
        (config.arrays, 2, element.boxed()),
    ])
}

/// An atomic operation with a value.
pub(super) fn atomic_value(config: &Config) -> BoxedStrategy<Expr> {
    let orders = |words: &'static [&'static str]| -> BoxedStrategy<Option<&'static str>> {
        if config.orders {
            prop::option::weighted(0.5, prop::sample::select(words)).boxed()
        } else {
            Just(None).boxed()
        }
    };
    let any = || orders(&["relaxed", "acquire", "release", "acq_rel", "seq_cst"]);
    let with_order = |function: &'static str, mut arguments: Vec<Expr>, order: Option<&str>| {
        arguments.extend(order.map(variable));
        call(function, arguments)
    };
    let target = shared(config);
    let updates = prop::sample::select(vec![
        "fetch_add",
        "fetch_sub",
        "fetch_and",
        "fetch_or",
        "fetch_xor",
        "exchange",
    ]);
    let update = (updates, target.clone(), constant(), any());
    let cas = (target.clone(), constant(), constant(), any());
    let load = (target, orders(&["relaxed", "acquire", "seq_cst"]));
    prop_oneof![
        3 => cas.prop_map(move |(x, a, b, order)| with_order("cas", vec![x, a, b], order)),
        4 => update.prop_map(move |(f, x, v, order)| with_order(f, vec![x, v], order)),
        2 => load.prop_map(move |(x, order)| with_order("load", vec![x], order)),
    ]
    .boxed()
}
