//! Tests of compiled subjects: what needs the compiler pass, the runtime and the crate `native` together.
//!
//! The tests are in `tests/`, the programs that they compile and run in `programs/` (`programs/coverage/`: one for each row of
//! `docs/coverage.md`; `programs/twins/`: pairs of the model language and C) and `bench/`. Here is what the tests share: which
//! programs there are, how they are built, and where code is that nobody here wrote.
//!
//! They need what `make native` builds. Programs that they compile are kept for the next time.

mod build;
mod cache;
mod each;
mod program;
mod run;
mod sources;
pub mod to_c;
mod twin;

pub use build::{Build, Built, Cxx, build, plain};
pub use each::for_each;
pub use program::{Language, Program, programs};
pub use run::{concurrent_trace_program, first_difference, open, record, short_run};
pub use sources::{bzip2, c_files, sqlite, zstd};
pub use twin::{Place, Places, Twin};

use std::path::PathBuf;

/// The directory of this package.
#[must_use]
pub fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
