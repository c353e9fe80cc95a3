//! One process that makes many runs of a program: what `native`, its owner, and the runtime say to each other on a socket.
//!
//! Starting a program (the loader, its libraries) takes far longer than most runs of it. So a plan may name a socket ([`Plan::serve`](crate::Plan)): the
//! runtime then stops before the first code of the program, and forks itself for each run that it is asked for.
//!
//! A request is a word of 32 bits, the length, and so many bytes: the [`Plan`](crate::Plan) of the run. The log of each run goes to the same file,
//! which the owner has emptied. The length [`END_RUN`] comes alone, and ends the run that is under way. The process answers once when it is ready,
//! and then once for each run. It ends when its owner does, and with it a run that is under way.

/// In place of the length of a request: ends the run that is under way, if there still is one.
pub const END_RUN: u32 = 0;

/// How many bytes an answer has.
pub const ANSWER_BYTES: usize = 8;

/// What the runtime answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Runs can be asked for.
    Ready,
    /// No runs can be made so; the process ends.
    Refused(Refusal),
    /// A run is over; this is what `wait` says of it.
    Ended(i32),
    /// There is no run: the system has this error.
    NotForked(i32),
}

/// Why a process cannot be forked for each run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// A library has made threads already, and a fork would lose them.
    Threads,
    /// The kernel has no `pidfd_open`.
    OldKernel,
}

impl Answer {
    /// As it is sent.
    #[must_use]
    pub fn to_bytes(self) -> [u8; ANSWER_BYTES] {
        let (kind, value) = match self {
            Answer::Ready => (1, 0),
            Answer::Refused(Refusal::Threads) => (2, 1),
            Answer::Refused(Refusal::OldKernel) => (2, 2),
            Answer::Ended(status) => (3, status),
            Answer::NotForked(error) => (4, error),
        };
        let mut bytes = [kind, 0, 0, 0, 0, 0, 0, 0];
        bytes[4..].copy_from_slice(&value.to_le_bytes());
        bytes
    }

    /// What was sent; `None` if that is no answer.
    #[must_use]
    pub fn from_bytes(bytes: [u8; ANSWER_BYTES]) -> Option<Answer> {
        let [kind, 0, 0, 0, a, b, c, d] = bytes else { return None };
        let value = i32::from_le_bytes([a, b, c, d]);
        Some(match (kind, value) {
            (1, 0) => Answer::Ready,
            (2, 1) => Answer::Refused(Refusal::Threads),
            (2, 2) => Answer::Refused(Refusal::OldKernel),
            (3, status) => Answer::Ended(status),
            (4, error) => Answer::NotForked(error),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_as_they_were_sent() {
        let refusals = [Refusal::Threads, Refusal::OldKernel].map(Answer::Refused);
        for answer in [Answer::Ready, Answer::Ended(-1), Answer::Ended(139), Answer::NotForked(11)]
            .into_iter()
            .chain(refusals)
        {
            assert_eq!(Answer::from_bytes(answer.to_bytes()), Some(answer));
        }
        assert_eq!(Answer::from_bytes([0; ANSWER_BYTES]), None);
        assert_eq!(Answer::from_bytes([1, 1, 0, 0, 0, 0, 0, 0]), None);
    }
}
