//! Programs whose traces are long, with bugs whose two ends lie far apart.
//!
//! Four workers go round a loop together, a few events each in turn. `mix` draws what they do from a list: critical sections, nested
//! locks, transactions in one section and in two, counters, producers and consumers, waiting for a condition. `loop` has one short body that
//! is gone round very often. In both, for each distance d that fits there is a variable that one worker writes without a lock and another
//! one reads about d events later, and a transaction of one worker with a write of another about d events later.

use std::fmt::Write as _;

/// What the workers do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    Mix,
    Loop,
}

impl Shape {
    pub fn named(name: &str) -> Option<Shape> {
        match name {
            "mix" => Some(Shape::Mix),
            "loop" => Some(Shape::Loop),
            _ => None,
        }
    }
}

pub const THREADS: usize = 4;

/// A program, and the distances of its planted bugs.
pub struct Long {
    pub source: String,
    pub distances: Vec<usize>,
}

/// A small generator of numbers, so that a program is the same everywhere (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

/// What a worker does in one round, and about how many events that is.
fn body(shape: Shape, worker: usize, numbers: &mut Numbers) -> (String, usize) {
    if shape == Shape::Loop {
        let text = "        lock(m0); v0 = v0 + i; unlock(m0);\n        fetch_add(count, 1);\n".to_owned();
        return (text, 5);
    }
    let (mut text, mut events) = (String::new(), 0);
    for _ in 0..5 {
        let k = numbers.below(4);
        let by = worker + 1;
        let (piece, size) = match numbers.below(9) {
            0 | 1 => (format!("lock(m{k}); v{k} = v{k} + {by}; unlock(m{k});"), 4),
            2 => (
                format!(
                    "atomic {{ lock(m{k}); r = v{k}; unlock(m{k}); lock(m{k}); v{k} = r + {by}; unlock(m{k}); }}"
                ),
                8,
            ),
            3 => (format!("atomic {{ lock(m{k}); r = v{k}; v{k} = r + {by}; unlock(m{k}); }}"), 6),
            4 => ("fetch_add(count, 1);".to_owned(), 1),
            5 => (format!("lock(m{k}); lock(inner); w{k} = w{k} + v{k}; unlock(inner); unlock(m{k});"), 7),
            6 => (format!("lock(m{k}); table[i % 8] = table[i % 8] + {by}; unlock(m{k});"), 4),
            7 => (format!("rdlock(rw); r = shared{k}; unlock(rw);"), 3),
            _ => (format!("wrlock(rw); shared{k} = i; unlock(rw);"), 3),
        };
        let _ = writeln!(text, "        {piece}");
        events += size;
    }
    // Worker 0 produces for worker 1, worker 2 for worker 3: a token each, and an item under it.
    let (piece, size) = match worker {
        0 | 2 => (format!("item{worker} = i; release(full{worker}); acquire(empty{worker});"), 3),
        _ => {
            let from = worker - 1;
            (format!("acquire(full{from}); r = item{from}; release(empty{from});"), 3)
        }
    };
    let _ = writeln!(text, "        {piece}");
    (text, events + size)
}

/// A program whose trace has about so many events.
pub fn long(shape: Shape, events: usize, seed: u64) -> Long {
    let mut numbers = Numbers(seed);
    let bodies: Vec<(String, usize)> = (0..THREADS).map(|n| body(shape, n, &mut numbers)).collect();
    // The branch of the loop and those of the planted bugs come up in each round too.
    let distances: Vec<usize> =
        [100, 1_000, 10_000, 100_000].into_iter().filter(|&d| 4 * d <= events).collect();
    let per_round = bodies.iter().map(|(_, events)| events + 1).sum::<usize>() + 2 * distances.len();
    let rounds = events.div_ceil(per_round);
    let mut text = String::from(
        "int v0, v1, v2, v3, w0, w1, w2, w3, shared0, shared1, shared2, shared3, item0, item2;\nint table[8];\n\
         atomic int count;\nmutex m0, m1, m2, m3, inner;\nrwlock rw;\n\
         semaphore full0, empty0, full2, empty2;\n",
    );
    for d in &distances {
        let _ = writeln!(text, "int race{d}, torn{d};");
    }
    for (n, (body, _)) in bodies.iter().enumerate() {
        let _ = write!(
            text,
            "\nthread W{n} {{\n    int i, r;\n    while (i < {rounds}) bound {rounds} {{\n{body}"
        );
        for (k, d) in distances.iter().enumerate() {
            let first = rounds / 4 + k;
            let second = first + d.div_ceil(per_round) + 1;
            let _ = match n {
                0 => writeln!(
                    text,
                    "        if (i == {first}) {{ race{d} = 1; atomic {{ r = torn{d}; torn{d} = r + 1; }} }}"
                ),
                3 => writeln!(text, "        if (i == {second}) {{ r = race{d}; torn{d} = 9; }}"),
                _ => Ok(()),
            };
        }
        text.push_str("        i++;\n    }\n}\n");
    }
    Long { source: text, distances }
}
