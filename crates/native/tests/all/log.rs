//! Logs become traces.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common::log::{self, ACCT, FIRST, Log, MAIN, NODE, SECOND, origin, program, sample, site};
use abi::note::{End, Mode, Note, Step, Waits};
use abi::pack::{NEIGHBOURS, Neighbours, PACKED, Packer, most_bytes};
use abi::unit::{BYTES, SITE_BITS, Unit};
use native::log::{Reading, read};
use trace::{EventKind as K, FaultKind, Outcome, ShowOptions, ThreadId, show};

fn reading(log: &Log) -> Reading {
    let linked = program();
    read(&linked, &log.bytes, origin(&linked), None)
}

#[test]
fn a_run_in_the_words_of_its_source() {
    let linked = program();
    let reading = read(&linked, &sample(&linked).bytes, origin(&linked), None);
    reading.trace.check_fits(&linked.program).unwrap();
    assert!(reading.ended && reading.damage.is_none() && reading.foreign_units == 0);
    assert_eq!((reading.hand_overs, reading.events), (3, 23));
    insta::assert_snapshot!(show(
        &reading.trace,
        Some(&linked.program),
        &ShowOptions { width: 140, ..Default::default() }
    ));
}

#[test]
fn what_is_read_can_be_written_as_a_trace_file() {
    let linked = program();
    let reading = read(&linked, &sample(&linked).bytes, origin(&linked), None);
    let bytes = trace::file::write_bytes(&reading.trace).unwrap();
    assert_eq!(trace::file::read_bytes(&bytes).unwrap().trace, reading.trace);
}

#[test]
fn switches_say_who_ran_how_far() {
    let linked = program();
    let reading = read(&linked, &sample(&linked).bytes, origin(&linked), None);
    let (main, first) = (ThreadId::MAIN, ThreadId::from_code(FIRST).unwrap());
    let switches: Vec<_> = reading
        .trace
        .switches
        .iter()
        .map(|s| (s.thread, s.until, s.site.unwrap().0, s.enabled.len()))
        .collect();
    assert_eq!(
        switches,
        [(main, 9, site::LOAD_HEAD, 1), (first, 5, site::STORE_OWN, 2), (main, 18, site::MEMCPY, 1)]
    );
}

/// The same log with its first units packed, in one of the two ways.
fn packed(bytes: &[u8], count: usize, way: u64) -> Vec<u8> {
    let word = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().unwrap());
    let units: Vec<Unit> =
        (0..count).map(|n| Unit { place: word(n * BYTES), value: word(n * BYTES + 8) }).collect();
    let mut piece = vec![0; most_bytes(count)];
    let length = match way {
        NEIGHBOURS => Neighbours::default().pack(&units, &mut piece),
        _ => Packer::default().pack(&units, &mut piece),
    };
    piece.truncate(length);
    piece.resize(length.next_multiple_of(BYTES), 0);
    let head = [(count as u64) << SITE_BITS, PACKED | way | length as u64].map(u64::to_le_bytes).concat();
    [&head, &piece, &bytes[count * BYTES..]].concat()
}

#[test]
fn a_log_says_the_same_wherever_its_packed_piece_ends() {
    let linked = program();
    let plain = sample(&linked).bytes;
    let all = read(&linked, &plain, origin(&linked), None);
    for count in 0..=plain.len() / BYTES {
        for way in [0, NEIGHBOURS] {
            let reading = read(&linked, &packed(&plain, count, way), origin(&linked), None);
            assert_eq!(reading.trace, all.trace, "{count}");
            assert!(reading.ended && reading.damage.is_none(), "{count}");
        }
    }
}

#[test]
fn a_piece_that_is_damaged_ends_the_log_and_is_named() {
    let linked = program();
    let plain = sample(&linked).bytes;
    let mut bytes = packed(&plain, plain.len() / BYTES, 0);
    // A first unit that is as expected, though nothing is before it.
    bytes[BYTES] = 1;
    let reading = read(&linked, &bytes, origin(&linked), None);
    assert!(reading.damage.unwrap().to_string().contains("packed"));
    assert!(!reading.ended);
}

#[test]
fn a_log_that_is_cut_anywhere_is_read_up_to_there() {
    let linked = program();
    let whole = sample(&linked);
    let all = read(&linked, &whole.bytes, origin(&linked), None).trace;
    for length in 0..whole.bytes.len() - 16 {
        let mut cut = whole.bytes[..length].to_vec();
        for padding in [0, 64] {
            cut.resize(length + padding, 0);
            let reading = read(&linked, &cut, origin(&linked), None);
            assert!(!reading.ended, "{length}");
            assert_eq!(reading.trace.outcome, Outcome::Truncated);
            // Zeros behind the cut may be taken for the end of a note that they complete.
            if reading.damage.is_none() && padding == 0 {
                assert_eq!(reading.trace.events[..], all.events[..reading.trace.events.len()], "{length}");
            }
        }
    }
}

/// The runtime writes what is logged most often in forms of its own.
#[test]
fn short_forms_say_the_same_as_notes() {
    let linked = program();
    let content: Box<[u8]> = vec![7; 40].into();
    let (mut long, mut short) = (Log::new(&linked), Log::new(&linked));
    long.step(site::MALLOC, Step::Alloc { address: NODE, bytes: 48 });
    long.step(site::MALLOC, Step::Free { address: NODE });
    long.note(Note::Bytes { site: site::MEMCPY + 1, address: ACCT, content });
    short.unit(site::MALLOC, abi::unit::ALLOC + 48, NODE).unit(site::MALLOC, abi::unit::FREE, NODE);
    short.note(Note::Fill { site: site::MEMCPY + 1, address: ACCT, byte: 7, count: 40 });
    let (long, short) = (reading(&long), reading(&short));
    assert_eq!(long.trace.events.len(), 3);
    assert_eq!(long.trace, short.trace);
    let mut endless = Log::new(&linked);
    endless.note(Note::Fill { site: site::MEMCPY + 1, address: ACCT, byte: 7, count: u32::MAX });
    assert!(reading(&endless).damage.unwrap().to_string().contains("fill"));
}

#[test]
fn units_that_were_left_out_count() {
    let linked = program();
    let mut log = Log::new(&linked);
    log.unit(site::LOAD_HEAD, log::HEAD, 0);
    let skip = |n: u64| {
        let encoded = postcard::to_stdvec(&Note::Gap).unwrap();
        let mut bytes = (n << 22).to_le_bytes().to_vec();
        bytes.extend((encoded.len() as u64).to_le_bytes());
        bytes.extend(&encoded);
        bytes.resize(32, 0);
        bytes
    };
    log.bytes.extend(skip(1000));
    log.unit(site::LOAD_HEAD, log::HEAD, 0);
    let reading = reading(&log);
    let numbers: Vec<u64> = reading.trace.events.iter().map(|event| event.id.n).collect();
    assert_eq!(numbers, [1, 1001]);
}

#[test]
fn memory_is_what_it_last_was() {
    let linked = program();
    let mut log = Log::new(&linked);
    let node = |log: &mut Log, value| {
        log.unit(site::UPDATE, NODE + 8, value).unit(site::UPDATE, NODE + 8, value);
    };
    node(&mut log, 1); // before anyone allocated it: a page
    log.step(site::MALLOC, Step::Alloc { address: NODE, bytes: 16 });
    node(&mut log, 2);
    log.step(site::MALLOC, Step::Free { address: NODE });
    node(&mut log, 3); // freed, and still that block
    log.step(site::MALLOC, Step::Alloc { address: NODE, bytes: 64 });
    node(&mut log, 4);
    let reading = reading(&log);
    let names: Vec<String> = (reading.trace.events.iter())
        .filter_map(|event| event.kind.access())
        .map(|(_, location, ..)| reading.trace.location_name(&linked.program, location))
        .collect();
    assert_eq!(
        names,
        [
            "memory at 0x1000000108",
            "*heap+8 (allocated at bank.c:81)",
            "*heap+8 (allocated at bank.c:81)",
            "*heap+8 (allocated at bank.c:81)"
        ]
    );
    let ids: Vec<u32> = (reading.trace.events.iter())
        .filter_map(|event| event.kind.access())
        .map(|(_, location, ..)| location.allocation.0)
        .collect();
    assert_eq!(ids, [0, 1, 1, 2]);
}

#[test]
fn faults_assertions_and_deadlocks_end_a_run() {
    let linked = program();
    let with = |steps: &dyn Fn(&mut Log), end: End| {
        let mut log = Log::new(&linked);
        log.unit(site::LOAD_HEAD, log::HEAD, 0);
        steps(&mut log);
        log.note(Note::End { end, done: vec![(MAIN, 5)], hand_overs: 0 });
        reading(&log)
    };
    let fault = |signal, address| {
        let step = move |log: &mut Log| {
            log.note(Note::Step(0, Step::Fault { signal, address }));
        };
        match with(&step, End::Signal(signal)).trace.outcome {
            Outcome::Fault { site, kind, .. } => (site.0, kind),
            other => panic!("{other:?}"),
        }
    };
    // Without a site of its own a fault stands at the last one known.
    assert_eq!(fault(11, 8), (site::LOAD_HEAD, FaultKind::NullAccess));
    assert_eq!(fault(11, NODE), (site::LOAD_HEAD, FaultKind::SegmentationFault));
    assert_eq!(fault(6, 0), (site::LOAD_HEAD, FaultKind::Abort));
    let failed = with(
        &|log| {
            log.step(site::FENCE, Step::AssertFailed { text: "x".to_owned() });
            log.step(site::FENCE, Step::Fault { signal: 6, address: 0 });
        },
        End::Signal(6),
    );
    assert!(matches!(failed.trace.outcome, Outcome::AssertionFailed { site, .. } if site.0 == site::FENCE));
    assert!(matches!(failed.trace.events[1].kind, K::Assert { held: false }));
    let waits = Waits::Lock { object: ACCT, held_by: vec![FIRST, SECOND] };
    let blocked = with(&|_| {}, End::Deadlock(vec![(MAIN, site::FENCE + 1, waits)]));
    let Outcome::Deadlock { blocked } = &blocked.trace.outcome else { panic!("{:?}", blocked.trace.outcome) };
    assert_eq!((blocked.len(), blocked[0].site.0), (1, site::FENCE));
    assert_eq!(with(&|_| {}, End::EventLimit).trace.outcome, Outcome::LimitReached { events: 5 });
    assert_eq!(with(&|_| {}, End::Exit { status: 3 }).trace.outcome, Outcome::Exited { status: 3 });
    let unsupported = with(&|_| {}, End::Unsupported("vfork".to_owned()));
    assert_eq!(unsupported.unsupported.as_deref(), Some("vfork"));
}

#[test]
fn locks_are_named_by_the_memory_they_are_in() {
    let linked = program();
    let mut log = Log::new(&linked);
    log.step(site::FENCE, Step::Lock { object: ACCT + 20, mode: Mode::Mutex, depth: 1 });
    let reading = reading(&log);
    let K::Lock { object, .. } = reading.trace.events[0].kind else { panic!() };
    assert_eq!(reading.trace.location_name(&linked.program, object), "acct[2].open");
}
