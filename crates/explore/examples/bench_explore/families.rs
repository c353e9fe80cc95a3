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

/// A thread reads a sum in one critical section and writes it in the next, and then does its rounds of work under the same lock; another adds
/// to the sum once. Only at the beginning is there something to get wrong.
fn fa02(rounds: u32) -> Row {
    let source = format!(
        "int sum;
int work;
mutex m;

fn slow() {{
    lock(m);
    int seen = sum;
    unlock(m);
    lock(m);
    sum = seen + 1;
    unlock(m);
    int i = 0;
    while (i < {rounds}) bound {rounds} {{
        lock(m);
        work = work + 1;
        unlock(m);
        lock(m);
        work = work * 2;
        unlock(m);
        lock(m);
        work = work - 1;
        unlock(m);
        i = i + 1;
    }}
}}

fn quick() {{
    lock(m);
    sum = sum + 2;
    unlock(m);
}}

main {{
    thread a = fork slow();
    thread b = fork quick();
    join(a);
    join(b);
    assert(sum == 3);
}}
"
    );
    Row { name: format!("fa02-{rounds}"), source, fails: true }
}

/// A batch of four places is filled one by one and emptied as a whole; whether there is something to do depends on what is read. In the
/// wrong one the taker empties what it has not counted.
pub fn batch(rounds: u32, right: bool) -> Row {
    let empty = if right { "fetch_sub(count, seen);" } else { "count = 0;" };
    let source = format!(
        "atomic u8 count;
atomic u8 filled;
atomic u8 taken;

fn fill() {{
    int i = 0;
    while (i < {rounds}) bound {rounds} {{
        if (count < 4) {{
            fetch_add(count, 1);
            fetch_add(filled, 1);
        }}
        i = i + 1;
    }}
}}

fn take() {{
    int i = 0;
    while (i < {rounds}) bound {rounds} {{
        u8 seen = count;
        if (seen > 0) {{
            {empty}
            fetch_add(taken, seen);
        }}
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

/// Threads that walk the same records and count their visits; for the first record they forget the lock. (The language has loops for
/// recursion.)
fn dyn_rec(more: u32) -> Row {
    let threads = more + 2;
    let mut source = String::from(
        "int visits[4];
mutex m;

fn visit() {
    int seen = visits[0];
    visits[0] = seen + 1;
    int record = 1;
    while (record < 4) bound 4 {
        lock(m);
        visits[record] = visits[record] + 1;
        unlock(m);
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
    let _ = writeln!(source, "    assert(visits[0] == {threads});\n}}");
    Row { name: format!("dynRec-{more}"), source, fails: true }
}

/// The indexer of Flanagan and Godefroid (POPL 2005): each thread puts four messages into a hash table of 128 places, and goes on to the next
/// place where it finds one taken. Up to 11 threads nobody meets. The assertion says that a message of the first thread is where its hash
/// says.
fn indexer(threads: u32) -> Row {
    let mut source = String::from(
        "atomic int table[128];

fn index(int me) {
    int sent = 0;
    while (sent < 4) bound 4 {
        sent = sent + 1;
        int message = me * 4 + sent;
        int place = (sent * 11 + me) * 7 % 128;
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
    let (message, place) = (2, 22 * 7 % 128);
    let _ = writeln!(source, "    assert(table[{place}] == {message});\n}}");
    Row { name: format!("indexer-{threads}"), source, fails: threads > 11 }
}

/// Two threads add to one variable in loops, atomically, and nobody branches on it: one combination of paths, many orders.
pub fn counters(rounds: u32) -> Row {
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
