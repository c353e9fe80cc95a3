//! `threadbare list`, `show` and `clean`: what runs have found and `.threadbare` has kept.

use crate::cli::{CleanArguments, ShowRunArguments};
use crate::exit::Exit;
use crate::{output, store};
use std::fmt::Write as _;

pub fn list() -> anyhow::Result<Exit> {
    let mut text = String::new();
    for kept in store::list()? {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}  {}", kept.id, kept.subject);
        for (at, title) in kept.titles.iter().enumerate() {
            let _ = writeln!(text, "    {}. {title}", at + 1);
        }
    }
    if text.is_empty() {
        text.push_str("nothing is kept here; `threadbare run` keeps what it finds in .threadbare\n");
    }
    output::print(&text)?;
    Ok(Exit::Clean)
}

pub fn show(arguments: &ShowRunArguments) -> anyhow::Result<Exit> {
    output::print(&store::open(&arguments.id)?.text()?)?;
    Ok(Exit::Clean)
}

pub fn clean(arguments: &CleanArguments) -> anyhow::Result<Exit> {
    let kept = match arguments.ids.is_empty() {
        true => store::list()?,
        false => arguments.ids.iter().map(|id| store::open(id)).collect::<anyhow::Result<Vec<_>>>()?,
    };
    for kept in &kept {
        kept.remove()?;
    }
    let runs = if kept.len() == 1 { "1 run" } else { &format!("{} runs", kept.len()) };
    output::print(&format!("removed {runs}\n"))?;
    Ok(Exit::Clean)
}
