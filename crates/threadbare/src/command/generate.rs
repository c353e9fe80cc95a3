//! `threadbare completions` and `threadbare man`: generated from the definitions of the flags.

use crate::cli::{Arguments, CompletionsArguments, ManArguments};
use crate::exit::Exit;
use crate::output;
use anyhow::Context as _;
use clap::CommandFactory as _;

pub fn completions(arguments: &CompletionsArguments) -> anyhow::Result<Exit> {
    let mut text = vec![];
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "threadbare", &mut text);
    output::print(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Clean)
}

pub fn man(arguments: &ManArguments) -> anyhow::Result<Exit> {
    let directory = &arguments.directory;
    std::fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    clap_mangen::generate_to(Arguments::command(), directory)
        .with_context(|| format!("cannot write man pages into {}", directory.display()))?;
    Ok(Exit::Clean)
}
