//! What is written and read again is the same, and what stands in for a program is one that runs so.

use crate::common::{recordings, said};
use foreign::{Format, Inexpressible, StandIn, recording_of};
use lang::random::{Config, config, lowered, program};
use machine::{Machine, Options};
use proptest::prelude::*;
use subject::{Logging, Strategy as Who, Subject as _};
use trace::{EventKind, Outcome};

/// The formats, and whether they have places.
const FORMATS: [(Format, bool); 3] = [(Format::Std, true), (Format::RapidCsv, false), (Format::Csv, true)];

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn a_recording_that_is_written_is_read_as_it_was(recording in recordings(60)) {
        for (format, has_places) in FORMATS {
            let text = format.write(&recording);
            let read = format.read(text.as_bytes()).map_err(|wrong| TestCaseError::fail(format!("{wrong:?}\n{text}")))?;
            let meant = if format == Format::Csv { recording.clone() } else { recording.with_locks_for_atomics() };
            prop_assert_eq!(said(&read, has_places), said(&meant, has_places));
            let again = format.read(format.write(&read).as_bytes()).expect("what is written is read");
            prop_assert_eq!(said(&again, has_places), said(&read, has_places));
        }
    }

    #[test]
    fn a_stand_in_runs_as_the_recording_says(recording in recordings(60)) {
        let stand_in = StandIn::new(&recording, "test.csv").map_err(|wrong| TestCaseError::fail(wrong.to_string()))?;
        let (program, trace) = stand_in.into_parts();
        prop_assert_eq!(ir::verify(&program), Ok(()));
        prop_assert_eq!(trace.check_fits(&program), Ok(()));
        let ends = trace.events.iter().filter(|event| event.kind == EventKind::End).count();
        prop_assert_eq!(trace.events.len(), recording.records.len() + ends);
        let machine = Machine::new(program, Options::default()).map_err(|wrong| TestCaseError::fail(wrong.to_string()))?;
        let run = machine.run(&Who::follow(trace.schedule()), &Logging::Everything).expect("it runs");
        prop_assert_eq!(run.departure, None);
        prop_assert_eq!(&run.trace.events[..trace.events.len()], &trace.events[..]);
        prop_assert_eq!(&run.trace.allocations, &trace.allocations);
        let ids = |trace: &trace::Trace| trace.threads.iter().map(|info| (info.id, info.forked_by)).collect::<Vec<_>>();
        prop_assert_eq!(ids(&run.trace), ids(&trace));
    }

    #[test]
    fn a_run_of_ours_is_the_same_after_a_way_through_another_format(file in program(&expressible()), seed in any::<u64>()) {
        let machine = Machine::new(lowered(&file), Options::default()).expect("it runs");
        let trace = machine.run(&Who::Random { seed }, &Logging::Everything).expect("it runs").trace;
        prop_assume!(!matches!(trace.outcome, Outcome::LimitReached { .. }));
        let recording = match recording_of(&trace, machine.program()) {
            Ok(recording) => recording,
            // A lock that was tried in vain.
            Err(Inexpressible::Event { .. }) => return Ok(()),
            Err(other) => return Err(TestCaseError::fail(other.to_string())),
        };
        prop_assert!(recording.check_possible().is_ok(), "{:?}", recording.check_possible());
        let text = Format::Csv.write(&recording);
        let read = Format::Csv.read(text.as_bytes()).map_err(|wrong| TestCaseError::fail(format!("{wrong:?}\n{text}")))?;
        prop_assert_eq!(said(&read, true), said(&recording, true));
        let (program, again) = StandIn::new(&read, "test.csv").map_err(|wrong| TestCaseError::fail(wrong.to_string()))?.into_parts();
        // The places may be in other files, but what happens where is the same.
        let recording = recording_of(&again, &program).expect("what was read can be written");
        prop_assert_eq!(said(&recording, true), said(&read, true));
    }
}

/// Programs whose runs other formats have words for.
fn expressible() -> Config {
    Config {
        locks: true,
        recursive_locks: true,
        forks: true,
        atomics: true,
        arrays: true,
        pointers: true,
        heap: true,
        widths: true,
        transactions: true,
        loops: true,
        calls: true,
        ..Config::plain()
    }
}

#[test]
fn what_other_formats_have_no_word_for_is_not_left_out() {
    let source = "semaphore s = 1; int x; thread A { acquire(s); x = 1; release(s); }";
    let program = lang::compile(source, &lang::LowerOptions::default()).expect("it is right");
    let machine = Machine::new(program, Options::default()).expect("it runs");
    let trace = machine.run(&Who::RunToBlock, &Logging::Everything).expect("it runs").trace;
    let refused = recording_of(&trace, machine.program()).expect_err("a semaphore");
    assert!(refused.to_string().contains("is an operation on a semaphore"), "{refused}");
}

#[test]
fn sections_that_are_open_and_locks_that_interleave_are_told_as_they_are() {
    let text = "T0|acq(a)|1\nT0|acq(b)|2\nT0|rel(a)|3\nT0|w(x)|4\nT0|rel(b)|5\nT0|acq(a)|6\nT0|w(x)|7\n";
    let recording = Format::Std.read(text.as_bytes()).expect("it is right");
    let (program, trace) = StandIn::new(&recording, "a.std").expect("it can have happened").into_parts();
    assert_eq!(Format::Std.write(&recording_of(&trace, &program).expect("it has words")), text);
}
