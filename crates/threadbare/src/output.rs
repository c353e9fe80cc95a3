//! Writing to the terminal, to pipes and to files.

use anyhow::Context as _;
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::path::Path;

/// An error whose message is complete as it is, such as a list of rendered diagnostics.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Rendered(pub String);

/// Whether to draw in colour on standard output or standard error.
fn wants_color(is_terminal: bool) -> bool {
    is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Whether messages on standard output are in colour.
pub fn color() -> bool {
    wants_color(std::io::stdout().is_terminal())
}

/// Whether messages on standard error are in colour.
pub fn error_color() -> bool {
    wants_color(std::io::stderr().is_terminal())
}

/// Prints to standard output. A reader that has gone away is no error.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to standard output"),
    }
}

/// Shows on a terminal that something is going on, and what; is silent elsewhere.
pub fn spinner() -> indicatif::ProgressBar {
    let bar = match std::io::stderr().is_terminal() {
        true => indicatif::ProgressBar::new_spinner(),
        false => indicatif::ProgressBar::hidden(),
    };
    bar.with_finish(indicatif::ProgressFinish::AndClear)
}

/// Prints an error to standard error.
pub fn error(error: &anyhow::Error) {
    let mut stderr = std::io::stderr().lock();
    let _ = match error.downcast_ref::<Rendered>() {
        Some(rendered) => writeln!(stderr, "{rendered}"),
        None => writeln!(stderr, "error: {error:#}"),
    };
}

/// Writes a file aside and renames it, so that an earlier one is never damaged.
pub fn write_file(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let write = || -> std::io::Result<()> {
        let mut aside = tempfile::NamedTempFile::new_in(directory)?;
        aside.write_all(content)?;
        // A new file is readable by all, as any other command would make it; an old one keeps its permissions.
        let permissions = match std::fs::metadata(path) {
            Ok(metadata) => metadata.permissions(),
            Err(_) => {
                use std::os::unix::fs::PermissionsExt as _;
                std::fs::Permissions::from_mode(0o644)
            }
        };
        aside.as_file().set_permissions(permissions)?;
        aside.persist(path)?;
        Ok(())
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}
