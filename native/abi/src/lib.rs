//! What passes between the compiler pass, the runtime and `crates/native`: layouts and numbers, no behaviour.
//!
//! - [`section`]: the program IR that the pass writes into an object file, and `native` reads from the binary;
//! - [`page`] and [`mod@unit`]: the inline log, which instrumented code writes and the runtime empties;
//! - [`pack`]: the form in which a log of everything keeps units;
//! - [`model`]: what functions of the C library read;
//! - [`note`] and [`head`]: what the runtime adds to the log, and `native` turns into a trace;
//! - [`plan`]: what `native` asks of the runtime;
//! - [`serve`]: the same, for many runs of one process.
//!
//! ```text
//!   pass ──section──▶ binary ──▶ native ──plan──▶ runtime ◀──units── instrumented code
//!                                  ▲                 │
//!                                  └── units, notes ─┘
//! ```

#![no_std]

extern crate alloc;

pub mod head;
pub mod model;
pub mod note;
pub mod pack;
pub mod page;
pub mod plan;
pub mod section;
pub mod serve;
pub mod unit;

pub use note::Note;
pub use plan::Plan;
pub use section::{Alias, AliasTarget, HEADER_BYTES, Header, Linkage, MAGIC, Module, SECTION};

/// The version of all that is described here and of the program IR; changes whenever any of it does.
pub const VERSION: u32 = 6;

/// FNV-1a, 64 bits: names modules and inputs; it is no defence against forgery.
#[must_use]
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
