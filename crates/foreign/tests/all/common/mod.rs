//! Random recordings that can have happened: steps are drawn, and those that cannot be are left out.

#![allow(dead_code, reason = "not each test uses all of it")]

use foreign::{LockId, Operation, Record, Recording, ThreadNumber, VariableId};
use proptest::prelude::*;

/// A step that may be: who, what kind of operation, on what, and where.
type Drawn = (u32, u8, u32, u32);

/// Recordings of up to four threads.
pub fn recordings(most: usize) -> impl Strategy<Value = Recording> {
    prop::collection::vec((0..4u32, 0..16u8, 0..3u32, 0..6u32), 0..most).prop_map(|drawn| made(&drawn))
}

fn made(drawn: &[Drawn]) -> Recording {
    let mut recording = Recording::default();
    for &(thread, kind, object, place) in drawn {
        let thread = recording.threads.number(&format!("T{thread}"));
        let variable =
            |recording: &mut Recording| recording.variables.number(&format!("V{object}[{object}]"));
        let lock = |recording: &mut Recording| recording.locks.number(&format!("L{object}"));
        let child = |recording: &mut Recording| recording.threads.number(&format!("T{}", object + 1));
        let operation = match kind {
            0..4 => Operation::Read { variable: variable(&mut recording), atomic: kind == 0 },
            4..8 => Operation::Write { variable: variable(&mut recording), atomic: kind == 4 },
            8 => Operation::Update(variable(&mut recording)),
            9 | 10 => Operation::Acquire(lock(&mut recording)),
            11 | 12 => Operation::Release(lock(&mut recording)),
            13 => Operation::Fork(child(&mut recording)),
            14 => Operation::Join(child(&mut recording)),
            _ if object == 0 => Operation::Begin,
            _ => Operation::End,
        };
        let place = Some(recording.places.number(&place.to_string()));
        let line = recording.records.len() as u32 + 1;
        recording.records.push(Record { thread, operation, place, line });
        if recording.check_possible().is_err() {
            recording.records.pop();
        }
    }
    recording
}

/// What a recording says, with the names of things and without lines.
pub fn said(recording: &Recording, with_places: bool) -> Vec<String> {
    let thread = |of: ThreadNumber| recording.threads.name(of).to_owned();
    let variable = |of: VariableId| recording.variables.name(of).to_owned();
    let lock = |of: LockId| recording.locks.name(of).to_owned();
    let one = |record: &Record| {
        let what = match record.operation {
            Operation::Read { variable: of, atomic } => format!("reads {} {atomic}", variable(of)),
            Operation::Write { variable: of, atomic } => format!("writes {} {atomic}", variable(of)),
            Operation::Update(of) => format!("updates {}", variable(of)),
            Operation::Acquire(of) => format!("acquires {}", lock(of)),
            Operation::Release(of) => format!("releases {}", lock(of)),
            Operation::Fork(child) => format!("forks {}", thread(child)),
            Operation::Join(child) => format!("joins {}", thread(child)),
            Operation::Begin => "begins".to_owned(),
            Operation::End => "ends".to_owned(),
        };
        let place = record.place.filter(|_| with_places).map(|place| recording.places.name(place));
        format!("{} {what} at {place:?}", thread(record.thread))
    };
    recording.records.iter().map(one).collect()
}
