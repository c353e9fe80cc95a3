//! How fast logs are read: ten million units of loads and stores by two threads, with a branch for each pair.
//! `cargo bench -p threadbare-native`

#[path = "../tests/all/common/mod.rs"]
mod common;

use common::log::{ACCT, FIRST, HEAD, Log, MAIN, NODE, origin, program, site};
use native::log::{Records, read};

fn main() {
    divan::main();
}

const UNITS: u64 = 10_000_000;

fn log() -> (native::Linked, Vec<u8>) {
    let linked = program();
    let mut log = Log::new(&linked);
    log.step(site::MALLOC, abi::note::Step::Alloc { address: NODE, bytes: 4096 });
    let mut units = 0;
    while units < UNITS {
        for i in 0..5000 {
            log.unit(site::LOAD_ACCT, NODE + i * 8 % 4000, i);
            log.unit(site::STORE_ACCT, ACCT + i % 3 * 8, i);
            log.unit(site::LOAD_HEAD, HEAD, NODE);
            log.unit(site::BRANCH, 0, i % 2);
        }
        units += 20_000;
        let to = if units % 40_000 == 0 { MAIN } else { FIRST };
        log.switch(to, &[MAIN, FIRST]);
    }
    log.exit(0);
    (linked, log.bytes)
}

#[divan::bench(sample_count = 5)]
fn records(bencher: divan::Bencher<'_, '_>) {
    let (_, log) = log();
    bencher
        .counter(divan::counter::ItemsCount::new(UNITS))
        .bench(|| Records::new(&log).map(|record| record.n).fold(0, u64::wrapping_add));
}

#[divan::bench(sample_count = 5)]
fn events(bencher: divan::Bencher<'_, '_>) {
    let (linked, log) = log();
    bencher
        .counter(divan::counter::ItemsCount::new(UNITS))
        .bench(|| read(&linked, &log, origin(&linked), None).trace.events.len());
}
