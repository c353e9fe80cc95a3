//! Programs compile to IR that verifies.

use lang::LowerOptions;

fn compile(source: &str) -> ir::Program {
    let program = lang::compile(source, &LowerOptions::default()).unwrap_or_else(|errors| {
        let text: Vec<String> = errors.iter().map(|e| lang::render(e, "t.tb", source, false)).collect();
        panic!("{}", text.join("\n"))
    });
    if let Err(errors) = ir::verify(&program) {
        panic!("{}\n{errors:#?}", ir::print(&program));
    }
    program
}

#[test]
fn everything() {
    compile(
        r"
int x; int y = 1, z = -2; u8 a[4] = {1, 2}; i64 big = 0x1_0000; int *p = &x; u8 *q = &a[1];
atomic int flag = 0; mutex m; mutex forks[3]; recursive mutex r; rwlock rw; cond c; semaphore s = 2; barrier b = 2;
int *ps[] = {&x, null, &y};
fn add(int a, int b) -> int { return a + b; }
fn worker(int id, int *p) { *p = id; p[1 - 1] += id; if (id > 1) return; *p *= 2; }
thread T1 {
    int r1 = x; local r2, r3;
    t1: r2 := y;
    lock m; x = x + 1; Unlock m;
    atomic { t2: x := 1; while (x < 3 && r1 != 2) bound 5 { x++; if (r2 = 1) break; if (y ≥ 2) return; } }
    r3 = x ? r1 : r2; r3 = r1 ? r2 : r3; r3 = x && y || !z;
    if (trylock(m)) unlock(m);
    rdlock(rw); unlock(rw); wrlock(rw); unlock(rw);
    r1 = cas(x, 0, 1, acquire); r1 = fetch_add(a[r1], 1); flag++; flag = flag + 1; store(x, 3, release); fence(acquire);
    a[x] = y; a[r1] += 300; r3 <<= big; r3 = (u8) x >> 70;
    q = q + 1; q = a; q++; if (q == null || q > &a[2] && *q) skip;
    int *h = alloc(int, 3); h[1] = 4; free(h);
    wait(c, m); signal(c); broadcast(c); r1 = timedwait(c, m); acquire(s); release(s); r1 = value(s) + tryacquire(s);
    arrive(b); lock(forks[r1]); unlock(forks[1]);
    r1 = add(x, add(1, 2));
}
main {
    int i; thread t = fork worker(1, &x); thread u;
    while (i < 10) { i++; if (i == 3) continue; u = fork worker(i, null); join(u); }
    join(t); assert(x == 1 || *p > 2); assume(i);
}
exists (x == 1 && T1.r1 == 0 && main.i == 10 && a[1] == 2)
",
    );
}
