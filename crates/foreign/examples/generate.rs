//! Writes a trace of so many lines in RAPID's standard format, to see how long traces are dealt with: `generate LINES [THREADS]`.
//!
//! Threads that the first one forks take turns: each adds to one of many counters under that counter's lock, two of the locks are sometimes
//! nested, and now and then a counter is read without its lock. So there are races, from the first lines to the last, and two locks
//! that are taken in both orders.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u64>().unwrap_or(0));
    let lines = numbers.next().unwrap_or(1_000_000);
    let threads = numbers.next().unwrap_or(8).max(1);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut written = 0;
    let mut random = 1u64;
    for thread in 1..=threads {
        writeln!(out, "T0|fork(T{thread})|1")?;
        written += 1;
    }
    while written < lines {
        // Knuth's MMIX generator; its upper bits are good enough.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let draw = random >> 33;
        let (thread, counter) = (1 + draw % threads, draw / threads % 200);
        let steps: &[(&str, u64)] = match draw % 101 {
            0 => &[("r(C)", 20)],
            1 => &[("acq(L0)", 30), ("acq(L1)", 31), ("w(both)", 32), ("rel(L1)", 33), ("rel(L0)", 34)],
            2 => &[("acq(L1)", 40), ("acq(L0)", 41), ("w(both)", 42), ("rel(L0)", 43), ("rel(L1)", 44)],
            _ => &[("acq(L)", 10), ("r(C)", 11), ("w(C)", 12), ("rel(L)", 13)],
        };
        for (step, place) in steps {
            let step = step.replace("(C)", &format!("(C{counter})")).replace("(L)", &format!("(L{counter})"));
            writeln!(out, "T{thread}|{step}|{place}")?;
            written += 1;
        }
    }
    out.flush()
}
