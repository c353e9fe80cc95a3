//! Random programs that are dense in synchronisation, as text: sections nest in any order, waits may find no signal, memory may be
//! gone. Many of them deadlock or fault in some schedule. They shrink to fewer and simpler pieces.

use proptest::prelude::*;

const HEAD: &str = "int x, y; int *p = &x; atomic int a; mutex m, n; recursive mutex k; rwlock w; cond c, d; \
                    semaphore s = 1, t; barrier b = 2;\n";

/// How often plain, atomic, waiting, counting, trying, memory and nesting statements come up, and sections. Few things meet often
/// that way.
const THEMES: [[u32; 8]; 7] = [
    [3, 0, 0, 0, 0, 0, 0, 9],
    [2, 0, 0, 0, 0, 0, 9, 2],
    [3, 0, 0, 0, 5, 0, 1, 5],
    [3, 0, 5, 0, 0, 0, 0, 2],
    [3, 0, 0, 5, 0, 0, 0, 1],
    [2, 1, 0, 0, 0, 7, 0, 1],
    [4, 2, 3, 3, 2, 2, 2, 3],
];

/// Single statements.
fn simple(theme: [u32; 8]) -> BoxedStrategy<String> {
    let plain = prop::sample::select(vec![
        "x = 1;",
        "x = 2;",
        "y = x + 1;",
        "x = y;",
        "r = x;",
        "x = r + 1;",
        "y = 3;",
        "r = y;",
        "if (x == 1) { y = 2; }",
        "if (y != 0) { x = 3; } else { r = 1; }",
        "assert(x != 2);",
        "assert(y <= x);",
    ]);
    let atomic = prop::sample::select(vec![
        "a = 2;",
        "r = a;",
        "fetch_add(a, 1);",
        "r = cas(a, 0, 1); if (r) { y = 1; }",
        "r = cas(a, 1, 2); x = r;",
        "r = cas(a, 1, 0);",
    ]);
    let waiting = prop::sample::select(vec![
        "lock(m); wait(c, m); x = 1; unlock(m);",
        "lock(m); r = timedwait(c, m); if (r) { y = 4; } unlock(m);",
        "lock(m); r = timedwait(c, m); unlock(m);",
        "wait(d);",
        "r = timedwait(d); x = r;",
        "signal(c);",
        "signal(d);",
        "broadcast(c);",
        "broadcast(d);",
        "lock(m); signal(c); unlock(m);",
        "lock(m); signal(c); unlock(m);",
        "lock(m); broadcast(c); unlock(m);",
        "signal(d); signal(d);",
    ]);
    let counting = prop::sample::select(vec![
        "acquire(s);",
        "release(s);",
        "release(s); release(t);",
        "acquire(s); x = 8; release(s);",
        "acquire(t);",
        "release(t);",
        "r = tryacquire(s); if (r) { x = 4; }",
        "r = tryacquire(t);",
        "r = value(s); if (r == 1) { y = 5; }",
        "arrive(b);",
    ]);
    let tries = prop::sample::select(vec![
        "r = trylock(m); if (r) { x = 5; unlock(m); }",
        "r = trylock(n); if (r) { unlock(n); } else { y = 6; }",
        "r = trylock(k); if (r) { unlock(k); }",
        "r = tryrdlock(w); if (r) { unlock(w); }",
        "r = trywrlock(w); if (r) { y = 7; unlock(w); }",
    ]);
    let memory = prop::sample::select(vec![
        "*p = 1;",
        "r = *p;",
        "p = &y;",
        "p = &x;",
        "p = null;",
        "p = alloc(int);",
        "p = alloc(int); *p = 1; h = p; p = &x; free(h); h = null;",
        "h = alloc(int); p = h; *h = 4; p = &x; *h = 5; free(h); h = null;",
        "q = p; *q = 3;",
        "if (p) { *p = 4; }",
        "r = 6 / x;",
    ]);
    let nesting = prop::sample::select(vec![
        "lock(m); lock(n); x = 1; unlock(n); unlock(m);",
        "lock(n); lock(m); r = x; unlock(m); unlock(n);",
        "lock(m); rdlock(w); y = 8; unlock(w); unlock(m);",
        "wrlock(w); lock(m); unlock(m); unlock(w);",
        "rdlock(w); lock(n); x = 9; unlock(n); unlock(w);",
        "lock(n); wrlock(w); unlock(n); unlock(w);",
        "lock(k); lock(m); lock(k); unlock(k); unlock(m); unlock(k);",
        "lock(m); if (x == 1) { lock(k); unlock(k); } unlock(m);",
        "lock(n); acquire(s); unlock(n); release(s);",
        "acquire(s); lock(n); unlock(n); release(s);",
    ]);
    let all = [plain, atomic, waiting, counting, tries, memory, nesting];
    let weighted = theme.into_iter().zip(all).filter(|(weight, _)| *weight > 0);
    let union = weighted.map(|(weight, some)| (weight, some.prop_map(str::to_owned).boxed())).collect();
    proptest::strategy::Union::new_weighted(union).boxed()
}

fn piece(theme: [u32; 8]) -> BoxedStrategy<String> {
    let inner = simple(theme);
    let sections = inner.clone().prop_recursive(2, 6, 3, |inner| {
        let locks = vec![("lock", "m"), ("lock", "n"), ("lock", "k"), ("rdlock", "w"), ("wrlock", "w")];
        (prop::sample::select(locks), prop::collection::vec(inner, 0..3))
            .prop_map(|((how, lock), inner)| format!("{how}({lock}); {} unlock({lock});", inner.join(" ")))
    });
    prop_oneof![6 => inner, theme[7] => sections].boxed()
}

/// Programs as source text.
pub fn dense() -> impl Strategy<Value = String> {
    proptest::strategy::Union::new(THEMES.map(|theme| within(theme).boxed()))
}

fn within(theme: [u32; 8]) -> impl Strategy<Value = String> {
    let thread = (prop::collection::vec(piece(theme), 1..5), any::<bool>());
    prop::collection::vec(thread, 2..4).prop_map(|threads| {
        let mut text = HEAD.to_owned();
        for (n, (pieces, whole)) in threads.into_iter().enumerate() {
            let body = pieces.join(" ");
            let body = if whole { format!("atomic {{ {body} }}") } else { body };
            text.push_str(&format!("thread T{n} {{ int r = 0; int *q = null; int *h = null; {body} }}\n"));
        }
        text
    })
}
