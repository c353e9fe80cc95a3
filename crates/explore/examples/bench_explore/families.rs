//! The programs of PRUNE Table 1 and Fig. 6, written from what PRUNE §6 says of them (there are no sources), for any parameter; and two of ours.

use std::fmt::Write as _;

/// A program with its name, and whether its assertion can fail.
pub struct Row {
    pub name: String,
    pub source: String,
    pub fails: bool,
}

/// All rows of the table, in its order.
pub fn rows() -> Vec<Row> {
    let mut rows = vec![];
    rows.extend([1, 5, 10].map(fa02));
    rows.extend([5, 10, 20].map(|n| batch(n, false)));
    rows.extend([1, 3, 4, 5].map(|n| batch(n, true)));
    rows.extend((0..=6).map(dyn_rec));
    rows.extend([10, 11, 12, 14, 16, 18, 20].map(indexer));
    rows.extend([2, 4, 6].map(counters));
    rows.extend([3, 5, 7].map(guarded));
    rows
}

/// Two threads add to a sum in rounds; what is read in one critical section may be old in the next.
fn fa02(rounds: u32) -> Row {
    let source = format!(
        "int sum;
mutex m;

fn add(int by) {{
    int i = 0;
    while (i < {rounds}) bound {rounds} {{
        lock(m);
        int seen = sum;
        unlock(m);
        lock(m);
        sum = seen + by;
        unlock(m);
        i = i + 1;
    }}
}}

main {{
    thread a = fork add(1);
    thread b = fork add(2);
    join(a);
    join(b);
    assert(sum == {});
}}
",
        3 * rounds
    );
    Row { name: format!("fa02-{rounds}"), source, fails: true }
}

/// A batch of four places is filled and emptied; whether there is something to do depends on what is read. In the wrong one the
/// taker counts in one critical section and empties in the next.
fn batch(rounds: u32, right: bool) -> Row {
    let between = if right { "" } else { "\n            unlock(m);\n            lock(m);" };
    let source = format!(
        "int count;
int filled;
int taken;
mutex m;

fn fill() {{
    int i = 0;
    while (i < {rounds}) bound {rounds} {{
        lock(m);
        if (count < 4) {{
            count = count + 1;
            filled = filled + 1;
        }}
        unlock(m);
        i = i + 1;
    }}
}}

fn take() {{
    int i = 0;
    while (i < {rounds}) bound {rounds} {{
        lock(m);
        if (count > 0) {{
            int seen = count;{between}
            taken = taken + seen;
            count = 0;
        }}
        unlock(m);
        i = i + 1;
    }}
}}

main {{
    thread a = fork fill();
    thread b = fork take();
    join(a);
    join(b);
    assert(filled == taken + count);
}}
"
    );
    let name = if right { format!("pBch4ok-{rounds}") } else { format!("pBch4-{rounds}") };
    Row { name, source, fails: !right }
}

/// Threads that walk the same records and count their visits without a lock. (The language has loops for recursion.)
fn dyn_rec(more: u32) -> Row {
    let threads = more + 2;
    let mut source = String::from(
        "int visits[3];

fn visit() {
    int record = 0;
    while (record < 3) bound 3 {
        int seen = visits[record];
        visits[record] = seen + 1;
        record = record + 1;
    }
}

main {
",
    );
    for thread in 0..threads {
        let _ = writeln!(source, "    thread t{thread} = fork visit();");
    }
    for thread in 0..threads {
        let _ = writeln!(source, "    join(t{thread});");
    }
    let _ = writeln!(source, "    assert(visits[0] + visits[1] + visits[2] == {});\n}}", 3 * threads);
    Row { name: format!("dynRec-{more}"), source, fails: true }
}

/// The indexer of Flanagan and Godefroid (POPL 2005): each thread puts four messages into a hash table of 128 places, and goes on to the next
/// place where it finds one taken. Up to 11 threads nobody meets.
fn indexer(threads: u32) -> Row {
    let mut source = String::from(
        "atomic int table[128];

fn index(int me) {
    int sent = 0;
    while (sent < 4) bound 4 {
        sent = sent + 1;
        int message = sent * 11 + me;
        int place = message * 7 % 128;
        int done = 0;
        while (done == 0) bound 8 {
            if (cas(table[place], 0, message)) {
                done = 1;
            } else {
                place = (place + 1) % 128;
            }
        }
    }
}

main {
",
    );
    for thread in 0..threads {
        let _ = writeln!(source, "    thread t{thread} = fork index({thread});");
    }
    for thread in 0..threads {
        let _ = writeln!(source, "    join(t{thread});");
    }
    source.push_str("    assert(table[77] != 0);\n}\n");
    Row { name: format!("indexer-{threads}"), source, fails: false }
}

/// Two threads add to one variable in loops, atomically, and nobody branches on it: one combination of paths, many orders.
fn counters(rounds: u32) -> Row {
    let source = format!(
        "atomic int x;

fn add(int by) {{
    int i = 0;
    while (i < {rounds}) bound {rounds} {{
        fetch_add(x, by);
        i = i + 1;
    }}
}}

main {{
    thread a = fork add(1);
    thread b = fork add(3);
    join(a);
    join(b);
    assert(x == {});
}}
",
        4 * rounds
    );
    Row { name: format!("counters-{rounds}"), source, fails: false }
}

/// Threads that all do the same under a lock, and one that forgets it.
fn guarded(threads: u32) -> Row {
    let mut source = String::from(
        "int x;
mutex m;

fn careful() {
    lock(m);
    x = x + 1;
    unlock(m);
}

fn careless() {
    x = x + 1;
}

main {
",
    );
    for thread in 0..threads {
        let what = if thread + 1 == threads { "careless" } else { "careful" };
        let _ = writeln!(source, "    thread t{thread} = fork {what}();");
    }
    for thread in 0..threads {
        let _ = writeln!(source, "    join(t{thread});");
    }
    let _ = writeln!(source, "    assert(x == {threads});\n}}");
    Row { name: format!("one-careless-{threads}"), source, fails: true }
}
