//! Traces of other tools: read, written, and made into something to predict from.
//!
//! A [`Recording`] is what all formats say, each in its own words: which thread did what to which variable or lock, in a total
//! order, and at which place of the source. [`Format`] reads and writes them, and whatever is wrong with a file is a
//! [`Complaint`] with its line.
//!
//! There is no program to such a trace, and values are unknown. So that everything behind it (concurrent trace programs, engines,
//! the checker, the reports) needs to know nothing of this, a [`StandIn`] takes the place of the program: program IR that does just what
//! the recording has, each thread in one straight line, and the trace of that. Each write of a variable writes a number of its own, which
//! tells who wrote what was read and means nothing else; the trace says so ([`trace::Logging::WithoutValues`]), and predictions from it
//! keep each read to the write that it saw.

mod complaint;
mod csv;
mod format;
mod of_trace;
mod possible;
mod program;
mod rapid_csv;
mod recording;
mod stand_in;
mod std_format;
mod text;

pub use complaint::{Complaint, MOST_COMPLAINTS};
pub use format::Format;
pub use of_trace::{Inexpressible, recording_of};
pub use recording::{LockId, Names, Operation, PlaceId, Record, Recording, ThreadNumber, VariableId};
pub use stand_in::StandIn;
