//! `threadbare doctor`: whether this machine has what compiled programs need.

use crate::exit::Exit;
use crate::output;
use native::doctor::{Check, checks};
use std::fmt::Write as _;

pub fn doctor() -> anyhow::Result<Exit> {
    let mut text = String::new();
    let mut good = true;
    for Check { what, result } in checks() {
        // Writing to a string cannot fail.
        let _ = match result {
            Ok(found) => writeln!(text, "ok       {what}: {found}"),
            Err(advice) => {
                good = false;
                writeln!(text, "missing  {what}: {advice}")
            }
        };
    }
    text.push_str(match good {
        true => "compiled programs can be built, run and replayed here\n",
        false => "model programs (.tb) work all the same\n",
    });
    output::print(&text)?;
    Ok(if good { Exit::Clean } else { Exit::BadInput })
}
