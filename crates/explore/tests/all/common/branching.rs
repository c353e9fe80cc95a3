//! Random programs as text in which threads branch on what others write: ways that write this or that, or nothing, in ifs, loops and
//! calls; and assertions behind them. They shrink to fewer and simpler pieces.

use proptest::prelude::*;

const HEAD: &str = "int x, y, z; int *p = &z; atomic int a; recursive mutex m;
fn set(int v) -> int { if (v > 1) { z = v; } else { y = v; } return v; }
";

fn simple() -> impl Strategy<Value = String> {
    let statements = vec![
        "x = 1;",
        "y = 2;",
        "z = x;",
        "r = x;",
        "r = y;",
        "s = z;",
        "y = r;",
        "x = s + 1;",
        "fetch_add(a, 1);",
        "r = a;",
        "r = r + 1;",
        "*p = r;",
        "s = *p;",
        "lock(m); x = x + 1; unlock(m);",
        "assert(r != 2);",
        "assert(s <= 1);",
        "assert(x != 3);",
    ];
    prop::sample::select(statements).prop_map(str::to_owned)
}

fn statement() -> impl Strategy<Value = String> {
    let condition = prop::sample::select(vec!["x == 1", "y != 0", "r > 0", "s == z", "a == 1", "z < 2"]);
    simple().prop_recursive(2, 6, 2, move |inner| {
        let some = prop::collection::vec(inner.clone(), 0..=2).prop_map(|all| all.concat());
        let both = (condition.clone(), some.clone(), some.clone());
        prop_oneof![
            4 => both.prop_map(|(on, then, other)| format!("if ({on}) {{ {then} }} else {{ {other} }}")),
            2 => (condition.clone(), some.clone()).prop_map(|(on, then)| format!("if ({on}) {{ {then} }}")),
            1 => (condition.clone(), some.clone()).prop_map(|(on, body)| format!("while ({on}) bound 2 {{ {body} }}")),
            1 => (condition.clone(), some).prop_map(|(on, body)| format!("lock(m); if ({on}) {{ {body} }} unlock(m);")),
            1 => Just("s = set(r);".to_owned()),
        ]
    })
}

/// Programs of two threads, or three.
pub fn branching() -> impl Strategy<Value = String> {
    let thread = prop::collection::vec(prop_oneof![2 => simple(), 3 => statement()], 2..=4);
    prop::collection::vec(thread, 2..=3).prop_map(|threads| {
        let mut source = HEAD.to_owned();
        for (n, statements) in threads.iter().take(if threads.concat().len() > 8 { 2 } else { 3 }).enumerate()
        {
            source.push_str(&format!("thread T{n} {{ int r = 0; int s = 0; {} }}\n", statements.concat()));
        }
        source
    })
}
