//! `threadbare fmt`: format model programs.

use crate::cli::FmtArguments;
use crate::exit::Exit;
use crate::{load, output};
use anyhow::Context as _;
use std::io::Read as _;
use std::path::Path;

pub fn fmt(arguments: &FmtArguments) -> anyhow::Result<Exit> {
    let mut exit = Exit::Clean;
    for path in &arguments.files {
        if path == Path::new("-") {
            let mut source = String::new();
            std::io::stdin().read_to_string(&mut source).context("cannot read standard input")?;
            output::print(&formatted(&source, "standard input")?)?;
            continue;
        }
        let source = load::text(path)?;
        let formatted = formatted(&source, &path.display().to_string())?;
        if formatted == source {
            continue;
        }
        if arguments.check {
            output::print(&format!("{} is not formatted\n", path.display()))?;
            exit = Exit::Findings;
        } else {
            output::write_file(path, formatted.as_bytes())?;
        }
    }
    Ok(exit)
}

fn formatted(source: &str, name: &str) -> anyhow::Result<String> {
    lang::format(source).map_err(|errors| load::diagnostics(&errors, name, source))
}
