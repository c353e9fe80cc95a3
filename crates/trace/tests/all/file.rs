//! Trace files: what is written is read; what is damaged is noticed; nothing panics.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use crate::common::traces;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use trace::file::{self, Damage, Record, TraceError, Writer};
use trace::{Event, EventId, EventKind, Inconsistency, Outcome, ThreadId, Trace};

/// A trace with at least 30 events, always the same.
fn sample() -> Trace {
    let mut runner = TestRunner::deterministic();
    let strategy = traces(60).prop_filter("long enough", |trace| trace.events.len() > 30);
    strategy.new_tree(&mut runner).unwrap().current()
}

/// The trace as a file of many blocks.
fn blocks(trace: &Trace) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.trace");
    let mut writer = Writer::create(&path, &trace.origin).unwrap();
    let mut count = 0;
    let mut push = |record: Record| {
        writer.push(&record).unwrap();
        count += 1;
        if count % 7 == 0 {
            writer.flush().unwrap();
        }
    };
    trace.threads.iter().cloned().map(Record::Thread).for_each(&mut push);
    trace.allocations.iter().cloned().map(Record::Allocation).for_each(&mut push);
    trace.events.iter().cloned().map(Record::Event).for_each(&mut push);
    trace.switches.iter().cloned().map(Record::Switch).for_each(&mut push);
    trace.choices.iter().copied().map(Record::Choice).for_each(&mut push);
    push(Record::Outcome(trace.outcome.clone()));
    writer.finish().unwrap();
    std::fs::read(&path).unwrap()
}

/// Whether `part` can be what is left of `whole`.
fn is_prefix(part: &Trace, whole: &Trace) -> bool {
    part.origin == whole.origin
        && whole.threads.starts_with(&part.threads)
        && whole.allocations.starts_with(&part.allocations)
        && whole.events.starts_with(&part.events)
        && whole.switches.starts_with(&part.switches)
        && whole.choices.starts_with(&part.choices)
        && (part.outcome == whole.outcome || part.outcome == Outcome::Truncated)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_is_written_is_read(trace in traces(60)) {
        let bytes = file::write_bytes(&trace).unwrap();
        let read = file::read_bytes(&bytes).unwrap();
        prop_assert!(read.complete && read.note.is_none());
        prop_assert_eq!(read.trace, trace);
    }

    #[test]
    fn random_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), after_magic in any::<bool>()) {
        let mut file = if after_magic { b"TBTRACE\n\x02\0\0\0".to_vec() } else { vec![] };
        file.extend(bytes);
        prop_assert!(file::read_bytes(&file).is_err());
    }

    #[test]
    fn edited_files_give_a_prefix_or_an_error(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..5)
    ) {
        let trace = sample();
        let mut bytes = blocks(&trace);
        for (at, byte, how) in edits {
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => drop(bytes.remove(at)),
                _ => bytes.truncate(at.max(1)),
            }
        }
        if let Ok(read) = file::read_bytes(&bytes) {
            prop_assert!(is_prefix(&read.trace, &trace));
            prop_assert!(!read.complete || read.trace == trace);
        }
    }
}

#[test]
fn a_file_cut_anywhere_gives_a_prefix_and_says_so() {
    let trace = sample();
    let bytes = blocks(&trace);
    let mut most = 0;
    for cut in 0..bytes.len() {
        match file::read_bytes(&bytes[..cut]) {
            Ok(read) => {
                assert!(!read.complete);
                assert!(is_prefix(&read.trace, &trace), "cut at {cut}");
                let note = read.note.unwrap();
                assert!(note.at <= cut as u64 && note.file_bytes == cut as u64);
                assert_eq!(note.events, read.trace.events.len() as u64);
                assert!(read.trace.events.len() >= most, "nothing that was read before is lost again");
                most = read.trace.events.len();
            }
            Err(TraceError::NotATrace) => assert_eq!(cut, 0),
            Err(TraceError::Corrupted { .. }) => assert_eq!(most, 0, "only the header is an error"),
            Err(other) => panic!("cut at {cut}: {other}"),
        }
    }
    assert_eq!(most, trace.events.len());
    assert!(file::read_bytes(&bytes).unwrap().complete);
}

#[test]
fn every_flipped_bit_is_noticed() {
    let trace = sample();
    let mut bytes = blocks(&trace);
    for bit in 0..8 * bytes.len() {
        bytes[bit / 8] ^= 1 << (bit % 8);
        if let Ok(read) = file::read_bytes(&bytes) {
            assert!(!read.complete, "bit {bit}");
            assert!(is_prefix(&read.trace, &trace), "bit {bit}");
        }
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn notes_and_errors_say_what_and_where() {
    let trace = sample();
    let bytes = blocks(&trace);
    let note = |bytes: &[u8]| file::read_bytes(bytes).unwrap().note.unwrap();
    let cut = note(&bytes[..bytes.len() - 3]);
    assert_eq!(cut.damage, Damage::Cut);
    assert_eq!(
        cut.to_string(),
        format!(
            "the trace is not complete: {} events were read, up to byte {} of {}; the file ends in the middle of a block that begins there",
            trace.events.len(),
            cut.at,
            bytes.len() - 3
        )
    );
    let no_end = note(&bytes[..cut.at as usize]);
    assert_eq!((no_end.damage, no_end.at), (Damage::NoEnd, cut.at));
    let mut damaged = bytes.clone();
    damaged[cut.at as usize + 21] ^= 1;
    assert_eq!(note(&damaged).damage, Damage::Checksum);

    let error = |bytes: &[u8]| file::read_bytes(bytes).unwrap_err().to_string();
    insta::assert_snapshot!(
        [
            error(b""),
            error(b"TBTR"),
            error(b"TBTRACE\n\x03\0\0\0"),
            error(b"TBTRACE\n\x02\0\0\0"),
            error(b"TBTRACE\n\x02\0\0\0\x09\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
            error(b"#!/bin/sh"),
        ]
        .join("\n")
    );
}

#[test]
fn a_block_that_is_missing_or_doubled_is_noticed() {
    let trace = sample();
    let bytes = blocks(&trace);
    // The blocks: twenty bytes, the fourth field is the length of what follows.
    let mut starts = vec![12];
    while let Some(&start) = starts.last() {
        let Some(length) = bytes.get(start + 12..start + 16) else { break };
        starts.push(start + 20 + u32::from_le_bytes(length.try_into().unwrap()) as usize);
    }
    assert_eq!(starts.pop(), Some(bytes.len()));
    let last_records = starts.len() - 2;
    let without = [&bytes[..starts[last_records]], &bytes[starts[last_records + 1]..]].concat();
    let read = file::read_bytes(&without).unwrap();
    assert_eq!((read.complete, read.note.unwrap().damage), (false, Damage::Lost));
    let twice = [&bytes[..starts[last_records + 1]], &bytes[starts[last_records]..]].concat();
    assert!(!matches!(file::read_bytes(&twice), Ok(read) if read.complete));
}

#[test]
fn a_file_appears_only_when_it_is_complete() {
    let trace = sample();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.trace");
    let partial = file::partial_path(&path);
    assert_eq!(partial, dir.path().join("run.trace.partial"));
    file::write(&path, &trace).unwrap();
    assert!(path.exists() && !partial.exists());

    // A second run that is given up leaves the first file, and what it wrote beside it.
    let mut writer = Writer::create(&path, &trace.origin).unwrap();
    writer.push(&Record::Thread(trace.threads[0].clone())).unwrap();
    drop(writer);
    assert_eq!(file::read(&path).unwrap().trace, trace);
    let left = file::read(&partial).unwrap();
    assert_eq!((left.complete, &left.trace.threads[..]), (false, &trace.threads[..1]));

    std::fs::remove_file(&path).unwrap();
    let error = file::read(&path).unwrap_err();
    assert!(matches!(&error, TraceError::OnlyPartial { partial: found, .. } if *found == partial), "{error}");
    std::fs::remove_file(&partial).unwrap();
    assert!(matches!(file::read(&path), Err(TraceError::Io { .. })));
    std::fs::write(&path, b"").unwrap();
    assert!(matches!(file::read(&path), Err(TraceError::NotATrace)));
    assert!(matches!(Writer::create(&dir.path().join("no/dir"), &trace.origin), Err(TraceError::Io { .. })));
}

#[test]
fn a_run_that_is_killed_leaves_all_blocks_but_the_last() {
    let trace = sample();
    let thread = trace.threads[0].id;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.trace");
    let mut writer = Writer::create(&path, &trace.origin).unwrap();
    writer.push(&Record::Thread(trace.threads[0].clone())).unwrap();
    let total = 200_000;
    for n in 1..=total {
        let kind = EventKind::External { result: n << 40 };
        writer.push(&Record::Event(Event { id: EventId { thread, n }, site: ir::SiteId(0), kind })).unwrap();
    }
    std::mem::forget(writer); // as if killed: nothing more is written
    let left = file::read(&file::partial_path(&path)).unwrap();
    let events = left.trace.events.len() as u64;
    assert!(!left.complete && !path.exists());
    assert_eq!(left.note.unwrap().damage, Damage::NoEnd);
    assert!(events < total && total - events < 30_000, "{events} of {total}");
}

#[test]
fn records_that_cannot_belong_to_the_trace_are_refused() {
    let base =
        Trace { events: vec![], switches: vec![], choices: vec![], outcome: Outcome::Truncated, ..sample() };
    let thread = base.threads[0].id;
    let stranger = ThreadId::MAIN.child(99).unwrap();
    let refused = |change: &dyn Fn(&mut Trace)| {
        let mut trace = base.clone();
        change(&mut trace);
        match file::write_bytes(&trace) {
            Err(TraceError::Inconsistent { what, .. }) => what,
            other => panic!("{other:?}"),
        }
    };
    let event = |thread, n, kind| Event { id: EventId { thread, n }, site: ir::SiteId(0), kind };
    let nowhere = trace::Location { allocation: trace::AllocationId(77), offset: 0 };
    assert_eq!(refused(&|t| t.threads.push(t.threads[0].clone())), Inconsistency::ThreadTwice(thread));
    assert_eq!(
        refused(&|t| t.allocations[0].id.0 = 3),
        Inconsistency::AllocationNumber { found: 3, expected: 0 }
    );
    assert_eq!(
        refused(&|t| t.events.push(event(stranger, 1, EventKind::End))),
        Inconsistency::NoThread(stranger)
    );
    assert_eq!(
        refused(&|t| t.events.push(event(thread, 1, EventKind::Fork { child: stranger }))),
        Inconsistency::NoThread(stranger)
    );
    assert_eq!(
        refused(&|t| t.events.push(event(thread, 1, EventKind::Release { semaphore: nowhere }))),
        Inconsistency::NoAllocation(77)
    );
    assert_eq!(
        refused(&|t| t.events.push(event(thread, 0, EventKind::End))),
        Inconsistency::EventOrder { found: EventId { thread, n: 0 }, after: 0 }
    );
    assert_eq!(
        refused(&|t| t.events = vec![event(thread, 2, EventKind::End), event(thread, 2, EventKind::End)]),
        Inconsistency::EventOrder { found: EventId { thread, n: 2 }, after: 2 }
    );
    let location = trace::Location { allocation: trace::AllocationId(0), offset: 0 };
    for (bytes, value) in [(0, 0), (9, 0), (1, 256), (7, 1 << 56)] {
        let read = EventKind::Read { location, bytes, value, order: None };
        assert_eq!(
            refused(&|t| t.events.push(event(thread, 1, read.clone()))),
            Inconsistency::Value(EventId { thread, n: 1 })
        );
    }
    assert_eq!(
        refused(&|t| t.outcome = Outcome::Discarded { thread: stranger, site: ir::SiteId(0) }),
        Inconsistency::NoThread(stranger)
    );
}

#[test]
fn large_content_takes_blocks_of_its_own_up_to_a_limit() {
    let base = sample();
    let (thread, location) =
        (base.threads[0].id, trace::Location { allocation: trace::AllocationId(0), offset: 0 });
    let of = |sizes: &[usize]| Trace {
        events: sizes
            .iter()
            .enumerate()
            .map(|(n, &size)| Event {
                id: EventId { thread, n: n as u64 + 1 },
                site: ir::SiteId(0),
                kind: EventKind::WriteBytes { location, content: vec![7; size].into() },
            })
            .collect(),
        ..base.clone()
    };
    let large = of(&[1000, file::MOST_BLOCK_BYTES - 100, 1000]);
    assert_eq!(file::read_bytes(&file::write_bytes(&large).unwrap()).unwrap().trace, large);
    let too_large = of(&[1000, file::MOST_BLOCK_BYTES + 1]);
    assert!(matches!(file::write_bytes(&too_large), Err(TraceError::RecordTooLarge { .. })));
}
