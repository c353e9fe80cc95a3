//! A witness that the program does not follow is fed back (docs/design/witnesses.md, "A witness that the
//! program does not follow"): what was assumed of outside code is taken as the run showed it to be, and the
//! candidate is asked about again, so often at most.
//!
//! The run says at which event outside code came out otherwise ([`Cause`](claim::Cause)). In the recorded run that event came out as it did
//! after all that went before it; so it is tied to that, first to the calls of outside code, then to more ([`encode::Context`]). If no
//! schedule is left, that rests on an assumption of ours, and the answer is *unknown (pinned)*, never *infeasible*.

use crate::confirm::Replayed;
use crate::windows::Windows;
use claim::{Answer, Candidate, Standing, Unconfirmed, Unknown, Witness};
use encode::Result;

/// How often a candidate is asked about again.
pub const MOST_ROUNDS: u32 = 4;

/// What came of a candidate.
pub enum Shown {
    /// The subject was run along the last witness.
    Replayed(Replayed),
    /// With what the runs have shown there is no witness.
    Not(Answer),
}

/// Replays a witness; while outside code makes the run depart, asks for another one. `checks` is the independent checker.
pub fn show(
    engine: &mut Windows<'_>,
    candidate: &Candidate,
    witness: &Witness,
    checks: &dyn Fn(&Candidate, &Witness) -> bool,
    replay: &mut dyn FnMut(&Candidate, &Witness) -> Replayed,
) -> Result<Shown> {
    let mut witness = witness.clone();
    if engine.is_tied() {
        // What other candidates' runs have shown holds for this one too.
        match again(engine, candidate, checks)? {
            Again::Witness(other) => witness = other,
            Again::Not(answer) => return Ok(Shown::Not(answer)),
            Again::NoAnswer => {}
        }
    }
    let mut rounds = 0;
    loop {
        let replayed = replay(candidate, &witness);
        let Some(cause) = replayed.cause.clone().filter(|_| replayed.standing != Standing::Confirmed) else {
            return Ok(Shown::Replayed(after(replayed, rounds)));
        };
        if rounds == MOST_ROUNDS || !engine.tie(cause.event)? {
            return Ok(Shown::Replayed(after(replayed, rounds)));
        }
        rounds += 1;
        match again(engine, candidate, checks)? {
            Again::Witness(other) => witness = other,
            Again::Not(answer) => return Ok(Shown::Not(answer)),
            Again::NoAnswer => return Ok(Shown::Replayed(after(replayed, rounds))),
        }
    }
}

enum Again {
    Witness(Witness),
    Not(Answer),
    /// A limit was reached: nothing new is known.
    NoAnswer,
}

fn again(
    engine: &mut Windows<'_>,
    candidate: &Candidate,
    checks: &dyn Fn(&Candidate, &Witness) -> bool,
) -> Result<Again> {
    Ok(match engine.answer_small(candidate)? {
        Answer::Feasible(witness) if checks(candidate, &witness) => Again::Witness(witness),
        answer @ (Answer::Infeasible(_) | Answer::Unknown(Unknown::Pinned(_))) => Again::Not(answer),
        Answer::Feasible(_) | Answer::Unknown(_) => Again::NoAnswer,
    })
}

/// Says how often it was asked about again.
fn after(mut replayed: Replayed, rounds: u32) -> Replayed {
    if let Standing::Predicted(Unconfirmed::Departed { asked_again, .. }) = &mut replayed.standing {
        *asked_again = rounds;
    }
    replayed
}
