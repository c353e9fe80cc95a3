//! What a log leaves out is computed, and what it has is compared.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common::log::{ACCT, FIRST, HEAD, Log, MAIN, NODE, STACK, program, sample, site};
use crate::common::{link_all, module};
use abi::note::Step;
use abi::unit::{ENTRY, LANDING};
use native::Linked;
use native::rebuild::{Statistics, rebuild};

#[test]
fn a_whole_run_is_rebuilt_without_a_mismatch() {
    let linked = program();
    let found = rebuild(&linked, &sample(&linked).bytes);
    assert_eq!((found.accesses, found.rebuilt, found.mismatches), (9, 9, 0), "{found:?}");
    assert_eq!((found.lost.len(), found.external_writes), (0, 0), "{found:?}");
}

/// The sample with one unit changed: the first of this site.
fn changed(linked: &Linked, site: u32, change: impl Fn(&mut u64, &mut u64)) -> Statistics {
    let mut bytes = sample(linked).bytes;
    for at in (0..bytes.len()).step_by(16) {
        let mut place = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        let mut value = u64::from_le_bytes(bytes[at + 8..at + 16].try_into().unwrap());
        if place & 0x3f_ffff == u64::from(site + 1) {
            change(&mut place, &mut value);
            bytes[at..at + 8].copy_from_slice(&place.to_le_bytes());
            bytes[at + 8..at + 16].copy_from_slice(&value.to_le_bytes());
            break;
        }
    }
    rebuild(linked, &bytes)
}

/// What is done to the two words of a unit.
type Change<'c> = &'c dyn Fn(&mut u64, &mut u64);

#[test]
fn a_wrong_value_address_or_branch_is_a_mismatch_and_is_named() {
    let linked = program();
    let cases: [(u32, &str, Change<'_>); 4] = [
        (site::STORE_ACCT, "the value of a store", &|_, value| *value = 2),
        (site::STORE_ACCT, "an address", &|place, _| *place += 8 << 22),
        (site::BRANCH, "the outcome of a branch", &|_, value| *value = 1),
        (site::UPDATE, "the new value of an atomic update", &|_, value| *value = 3),
    ];
    for (site, what, change) in cases {
        let found = changed(&linked, site, change);
        assert!(found.mismatches >= 1, "{what}: {found:?}");
        assert_eq!(
            (found.first_mismatches[0].what, found.first_mismatches[0].site.0),
            (what, site),
            "{found:?}"
        );
    }
}

#[test]
fn memory_that_changes_without_an_event_was_written_from_outside() {
    let linked = program();
    let mut log = Log::new(&linked);
    log.unit(site::WORKER, ENTRY, 0).unit(site::LOAD_ACCT, ACCT + 8, 4).unit(site::STORE_ACCT, ACCT + 8, 5);
    log.unit(site::STORE_OWN, 0x7000, 7);
    log.unit(site::WORKER, ENTRY, 0).unit(site::LOAD_ACCT, ACCT + 8, 9).unit(site::STORE_ACCT, ACCT + 8, 10);
    let found = rebuild(&linked, &log.bytes);
    assert_eq!((found.external_writes, found.mismatches), (1, 0), "{found:?}");
    assert_eq!(
        (found.first_external[0].address, found.first_external[0].site.0),
        (ACCT + 8, site::LOAD_ACCT)
    );
}

#[test]
fn a_walk_that_has_lost_its_way_begins_anew() {
    let linked = program();
    let mut log = Log::new(&linked);
    // Nobody entered the worker.
    log.unit(site::LOAD_ACCT, ACCT + 8, 4).unit(site::STORE_ACCT, ACCT + 8, 5);
    let found = rebuild(&linked, &log.bytes);
    assert_eq!((found.accesses, found.rebuilt, found.mismatches), (2, 0, 0), "{found:?}");
    assert_eq!(found.lost.iter().map(|(_, count)| count).sum::<u64>(), 1, "{found:?}");
}

/// A program with calls of all kinds, exceptions, variables that stay in their function, floats and constants.
const CALLS: &str = r#"shape #0 = int 4 signed
shape #1 = array 2 #0
global @g #0 = zero
global @table #1 constant = bytes "0700000009000000"
function $main() -> (i32) {
b0:
  %0 = stack_alloc ptr #0, 1i32
  store 5i32, %0
  %1 = call i32 $twice(21i32)
  store %1, @g
  %2 = load i32 %0
  %3 = address ptr @table + 4
  %4 = load i32 %3
  %5 = add i32 %2, %4
  store %5, @g
  %6 = load i32 @g
  %7 = opaque i32 "fptosi"(%6)
  store %7, @g
  %8 = cmp eq i1 %7, 3i32
  branch %8, b1, b2
b1:
  %9 = invoke i32 external "may_throw"(%6) to b2 unwind b3
b2:
  return 0i32
b3:
  store 1i32, @g
  return 1i32
}
function $twice(%0 i32) -> (i32) {
b0:
  %1 = mul i32 %0, 2i32
  return %1
}
"#;

#[test]
fn calls_hidden_variables_constants_and_exceptions_are_followed_and_floats_are_pinned() {
    let linked = link_all(&[module(CALLS, &[], &[])]).unwrap();
    let mut log = Log::default();
    let module = &linked.modules[0];
    log.note(abi::Note::Module {
        id: module.id,
        first: module.first,
        sites: module.sites,
        globals: vec![ACCT, 0],
        functions: vec![0, 0],
    });
    // Sites of main: 0 stack, 1 hidden store, 2 call, 3 store, 4 hidden load, 5, 6 constant, 7, 8 store, 9 load, 10 opaque, 11 store,
    // 12, 13 branch; b1: 14 invoke; b2: 15; b3: 16 store.
    log.unit(0, ENTRY, 0).unit(3, ACCT, 42).unit(8, ACCT, 14).unit(9, ACCT, 14).unit(11, ACCT, 3);
    // Another thread has seen it: what depends on it depends on shared memory.
    log.unit(13, 0, 0).unit(16, LANDING, 0).unit(16, ACCT, 1);
    log.switch(FIRST, &[MAIN, FIRST]);
    log.unit(0, ENTRY, 0).unit(3, ACCT, 42);
    let found = rebuild(&linked, &log.bytes);
    assert_eq!((found.mismatches, found.lost.len()), (0, 0), "{found:?}");
    assert_eq!((found.accesses, found.rebuilt), (6, 5), "{found:?}");
    assert_eq!(found.pinned, [("fptosi".to_owned(), 1)]);
    assert_eq!((found.shared_branches, found.pinned_branches), (1, vec![("fptosi".to_owned(), 1)]));
}

#[test]
fn any_log_is_walked_without_panic() {
    let linked = program();
    let whole = sample(&linked).bytes;
    bolero::check!(name = "native_rebuild").with_max_len(64).with_iterations(10_000).for_each(
        |input: &[u8]| {
            let mut bytes = whole.clone();
            for edit in input.chunks_exact(3).take(8) {
                let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % bytes.len();
                bytes[at] = edit[2];
            }
            let _ = rebuild(&linked, &bytes);
        },
    );
    // A log of nothing but an allocation of everything.
    let mut log = Log::new(&linked);
    log.step(site::MALLOC, Step::Alloc { address: 0, bytes: u64::MAX }).unit(site::LOAD_HEAD, HEAD, NODE);
    log.note(abi::Note::Bytes { site: site::MEMCPY + 1, address: u64::MAX, content: Box::new([1; 32]) });
    log.unit(site::COPY, abi::unit::STACK, STACK);
    let _ = rebuild(&linked, &log.bytes);
}
