//! The names that random programs are made of, and how each is declared.
//!
//! There are few shared variables, so that threads meet on them.

use super::build::{address, block, dereference, index, name, number, statement, type_name, variable};
use crate::Span;
use crate::ast::{
    ArraySize, BinaryOp, Declarator, Expr, Function, Initial, Item, ItemKind, Parameter, StatementKind,
    TypeWord,
};
use crate::types::IntType;
use ir::SyncKind;

/// Plain shared integers.
pub(super) const SHARED: [&str; 2] = ["x", "y"];
/// Shared integers of other widths.
pub(super) const WIDE: [&str; 3] = ["byte", "half", "wide"];
/// The atomic variable.
pub(super) const ATOMIC: &str = "flag";
/// The array, of [`ARRAY_COUNT`] elements.
pub(super) const ARRAY: &str = "a";
/// How many elements it has.
pub(super) const ARRAY_COUNT: u64 = 2;
/// Shared pointers to int, which begin as the address of `x` and of an element of the array.
pub(super) const POINTERS: [&str; 2] = ["p", "q"];
/// The variable that condition variables are about.
pub(super) const READY: &str = "ready";
/// Mutexes, in the order in which they are usually nested.
pub(super) const MUTEXES: [&str; 2] = ["m", "n"];
/// The mutex of the condition variable.
pub(super) const MONITOR: &str = "monitor";
/// The recursive mutex, the rwlock, the condition variable, the semaphore, the barrier.
pub(super) const RECURSIVE: &str = "re";
pub(super) const RWLOCK: &str = "rw";
pub(super) const CONDITION: &str = "c";
pub(super) const SEMAPHORE: &str = "s";
pub(super) const BARRIER: &str = "meet";
/// Int locals of each thread.
pub(super) const LOCALS: [&str; 2] = ["r0", "r1"];
/// The counter of loops.
pub(super) const COUNTER: &str = "i";
/// The local of another width.
pub(super) const NARROW: &str = "k";
/// The local pointer to heap memory.
pub(super) const HEAP: &str = "h";
fn declarator(text: &str, stars: u8, array: Option<u64>, initial: Option<Expr>) -> Declarator {
    Declarator {
        stars,
        name: name(text),
        array: array.map(|n| ArraySize { count: Some(number(n as i64)), span: Span::default() }),
        initial: initial.map(Initial::Value),
    }
}

fn item(kind: ItemKind) -> Item {
    Item { kind, span: Span::default() }
}

fn shared(word: TypeWord, declarator: Declarator) -> Item {
    item(ItemKind::Shared { atomic: false, word, declarators: vec![declarator] })
}

fn object(kind: SyncKind, text: &str, initial: Option<u64>) -> Item {
    let declarator = declarator(text, 0, None, initial.map(|n| number(n as i64)));
    item(ItemKind::Sync { kind, declarators: vec![declarator] })
}

/// Every declaration that a program may need, with the name that it declares, in the order in which they are
/// written. `parties` is the number of threads that meet at the barrier.
pub(super) fn declarations(parties: usize) -> Vec<(&'static str, Item)> {
    let int = TypeWord::Int;
    vec![
        ("x", shared(int, declarator("x", 0, None, None))),
        ("y", shared(int, declarator("y", 0, None, Some(number(1))))),
        ("byte", shared(TypeWord::Sized(IntType::U8), declarator("byte", 0, None, Some(number(254))))),
        ("half", shared(TypeWord::Sized(IntType::I16), declarator("half", 0, None, Some(number(-1))))),
        ("wide", shared(TypeWord::Sized(IntType::I64), declarator("wide", 0, None, None))),
        (READY, shared(int, declarator(READY, 0, None, None))),
        (ARRAY, shared(int, declarator(ARRAY, 0, Some(ARRAY_COUNT), None))),
        ("p", shared(int, declarator("p", 1, None, Some(address(variable("x")))))),
        ("q", shared(int, declarator("q", 1, None, Some(address(index(ARRAY, number(1))))))),
        (ATOMIC, {
            let declarators = vec![declarator(ATOMIC, 0, None, None)];
            item(ItemKind::Shared { atomic: true, word: int, declarators })
        }),
        ("m", object(SyncKind::Mutex, "m", None)),
        ("n", object(SyncKind::Mutex, "n", None)),
        (MONITOR, object(SyncKind::Mutex, MONITOR, None)),
        (RECURSIVE, object(SyncKind::RecursiveMutex, RECURSIVE, None)),
        (RWLOCK, object(SyncKind::RwLock, RWLOCK, None)),
        (CONDITION, object(SyncKind::Condition, CONDITION, None)),
        (SEMAPHORE, object(SyncKind::Semaphore, SEMAPHORE, Some(1))),
        (BARRIER, object(SyncKind::Barrier, BARRIER, Some(parties.max(1) as u64))),
        ("add_to", add_to()),
        ("copy", copy()),
    ]
}

/// What else a declaration needs.
pub(super) fn needs(text: &str) -> &'static [&'static str] {
    match text {
        "p" => &["x"],
        "q" => &[ARRAY],
        "copy" => &["x", "y"],
        _ => &[],
    }
}

/// `fn add_to(int *at, int n) -> int { *at += n; return *at; }`
fn add_to() -> Item {
    let parameters = vec![
        Parameter { ty: type_name(TypeWord::Int, 1), name: name("at") },
        Parameter { ty: type_name(TypeWord::Int, 0), name: name("n") },
    ];
    let add =
        StatementKind::Assign { target: dereference("at"), op: Some(BinaryOp::Add), value: variable("n") };
    let give = StatementKind::Return(Some(dereference("at")));
    let body = block(vec![statement(add), statement(give)]);
    let returns = Some(type_name(TypeWord::Int, 0));
    item(ItemKind::Function(Function { name: name("add_to"), parameters, returns, body }))
}

/// `fn copy() { x = y; }`
fn copy() -> Item {
    let body = block(vec![super::build::assign(variable("x"), variable("y"))]);
    item(ItemKind::Function(Function { name: name("copy"), parameters: vec![], returns: None, body }))
}

/// The declaration of a local that a body may use.
pub(super) fn local(text: &str) -> Option<StatementKind> {
    let (word, stars) = match text {
        HEAP => (TypeWord::Int, 1),
        NARROW => (TypeWord::Sized(IntType::U8), 0),
        COUNTER => (TypeWord::Int, 0),
        _ if LOCALS.contains(&text) => (TypeWord::Int, 0),
        _ => return None,
    };
    Some(StatementKind::Local { word, declarators: vec![declarator(text, stars, None, None)] })
}
