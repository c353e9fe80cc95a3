//! The subcommands, one file each.

pub mod cc;
pub mod doctor;
pub mod explore;
pub mod fmt;
pub mod generate;
pub mod ir;
pub mod replay;
pub mod run;
pub mod solve;
pub mod trace;
