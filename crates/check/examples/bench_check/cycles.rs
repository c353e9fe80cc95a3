//! Litmus tests from cycles, as herd's `diy` makes them: threads of two accesses each, in program order with or without a fence; the second
//! access of each thread and the first of the next are of one variable, and tied by reads-from, coherence or from-read. An order that contains all of
//! these edges cannot be: whether the test's outcome is allowed says which of them a model does not keep.

use std::fmt::Write as _;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

/// What stands between the two accesses of a thread.
const BETWEEN: [&str; 3] = ["", "fence();", "fence(acq_rel);"];
/// The orders of reads and writes.
const ORDERS: [(&str, &str); 3] = [("relaxed", "relaxed"), ("acquire", "release"), ("seq_cst", "seq_cst")];

/// The first tests, in a fixed order: all cycles of two threads first, then of three.
pub fn tests(count: usize) -> Vec<String> {
    let mut tests = vec![];
    for threads in 2..=4_u32 {
        // For each thread: two accesses, what is between them, and their order.
        let choices = 2 * 2 * BETWEEN.len() * ORDERS.len();
        for mut number in 0..choices.pow(threads) {
            let mut rows = vec![];
            for _ in 0..threads {
                let choice = number % choices;
                number /= choices;
                let access = |bit: usize| if choice >> bit & 1 == 0 { Access::Read } else { Access::Write };
                rows.push((access(0), access(1), choice / 4 % BETWEEN.len(), choice / 4 / BETWEEN.len()));
            }
            tests.extend(test(&rows));
            if tests.len() == count {
                return tests;
            }
        }
    }
    tests
}

type Row = (Access, Access, usize, usize);

/// The test of a cycle; `None` if it is none, because two reads follow each other between threads.
fn test(rows: &[Row]) -> Option<String> {
    let count = rows.len();
    let mut conditions = vec![];
    // What the first and the second access of each thread write or must read.
    let (mut first, mut second) = (vec![1; count], vec![1; count]);
    for t in 0..count {
        let next = (t + 1) % count;
        match (rows[t].1, rows[next].0) {
            (Access::Read, Access::Read) => return None,
            (Access::Write, Access::Read) => conditions.push(format!("T{next}.a == 1")),
            (Access::Write, Access::Write) => {
                (second[t], first[next]) = (1, 2);
                conditions.push(format!("v{t} == 2"));
            }
            (Access::Read, Access::Write) => conditions.push(format!("T{t}.b == 0")),
        }
    }
    let mut text = (0..count).map(|v| format!("int v{v};\n")).collect::<String>();
    for (t, &(a, b, between, order)) in rows.iter().enumerate() {
        let access = |access, variable: usize, local: &str, value: i32| match access {
            Access::Read => format!("{local} = load(v{variable}, {});", ORDERS[order].0),
            Access::Write => format!("store(v{variable}, {value}, {});", ORDERS[order].1),
        };
        let before = access(a, (t + count - 1) % count, "a", first[t]);
        let after = access(b, t, "b", second[t]);
        let _ = writeln!(text, "thread T{t} {{ int a, b; {before} {} {after} }}", BETWEEN[between]);
    }
    let _ = writeln!(text, "exists ({})", conditions.join(" && "));
    Some(text)
}
