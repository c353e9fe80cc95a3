//! The subcommands, one file each.

pub mod cc;
pub mod check;
pub mod check_many;
pub mod classes;
pub mod ctp;
pub mod doctor;
pub mod dpor;
pub mod explore;
pub mod export;
pub mod fmt;
pub mod generate;
pub mod ir;
pub mod kept;
pub mod paths;
pub mod predict;
pub mod prune;
pub mod record;
pub mod replay;
pub mod resume;
pub mod run;
pub mod runs;
pub mod sample;
pub mod shown;
pub mod solve;
pub mod trace;
pub mod tree;
