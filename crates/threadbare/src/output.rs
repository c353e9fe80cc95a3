//! Writing to the terminal, to pipes and to files.

use anyhow::{Context as _, bail};
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::LazyLock;
use trace::Trace;

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

/// How many characters fit on a line.
pub fn width() -> usize {
    std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).unwrap_or(120)
}

/// Prints to standard output. A reader that has gone away is no error.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to standard output"),
    }
}

/// Prints to standard error: what is said beside the output of a program.
pub fn say(text: &str) {
    // Nobody is left to tell if this fails.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// What goes on at the same time has a line each.
static SPINNERS: LazyLock<indicatif::MultiProgress> = LazyLock::new(indicatif::MultiProgress::new);

/// Shows on a terminal that something is going on, and what. Elsewhere it is silent, or writes lines if `THREADBARE_PROGRESS=lines` asks
/// for them.
pub struct Spinner {
    bar: Option<indicatif::ProgressBar>,
    lines: bool,
}

impl Spinner {
    pub fn start() -> Spinner {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = indicatif::ProgressStyle::with_template("{spinner} {msg}, {elapsed}")
                .unwrap_or_else(|_| indicatif::ProgressStyle::default_spinner());
            let bar = SPINNERS.add(indicatif::ProgressBar::new_spinner()).with_style(style);
            bar.with_finish(indicatif::ProgressFinish::AndClear)
        });
        let lines = std::env::var_os("THREADBARE_PROGRESS").is_some_and(|how| how == "lines");
        Spinner { bar, lines }
    }

    /// What is going on now.
    pub fn tell(&self, what: impl FnOnce() -> String) {
        match &self.bar {
            Some(bar) => {
                bar.set_message(what());
                bar.tick();
            }
            None if self.lines => say(&format!("{}\n", what())),
            None => {}
        }
    }

    /// It is over; nothing of it stays on the terminal.
    pub fn end(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Prints an error to standard error.
pub fn error(error: &anyhow::Error) {
    let mut stderr = std::io::stderr().lock();
    let _ = match error.downcast_ref::<Rendered>() {
        Some(rendered) => writeln!(stderr, "{rendered}"),
        None => writeln!(stderr, "error: {error:#}"),
    };
}

/// Writes a file aside and renames it, so that an earlier one is never damaged. What is no regular file, a pipe, a
/// device or a file that is open, is written to directly; a link is followed.
pub fn write_file(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let failed = |error: std::io::Error| {
        // The error may speak of the file aside; what failed is this one.
        anyhow::anyhow!("cannot write {}: {}", path.display(), std::io::Error::from(error.kind()))
    };
    match descriptor(path) {
        Some(1) => {
            let mut stdout = std::io::stdout().lock();
            return stdout.write_all(content).and_then(|()| stdout.flush()).map_err(failed);
        }
        Some(2) => return std::io::stderr().lock().write_all(content).map_err(failed),
        Some(_) => {
            let mut file = std::fs::OpenOptions::new().append(true).open(path).map_err(failed)?;
            return file.write_all(content).map_err(failed);
        }
        None if is_special(path) => return std::fs::write(path, content).map_err(failed),
        None => {}
    }
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut aside = tempfile::NamedTempFile::new_in(directory).map_err(failed)?;
    aside.write_all(content).map_err(failed)?;
    // A new file is readable by all, as any other command would make it; an old one keeps its permissions.
    let permissions = match std::fs::metadata(&target) {
        Ok(metadata) => metadata.permissions(),
        Err(_) => std::fs::Permissions::from_mode(0o644),
    };
    aside.as_file().set_permissions(permissions).map_err(failed)?;
    aside.persist(&target).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Writes a trace the same way.
pub fn write_trace(path: &Path, trace: &Trace) -> anyhow::Result<()> {
    if is_special(path) {
        return write_file(path, &trace::file::write_bytes(trace)?);
    }
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    trace::file::write(&target, trace).context("cannot write the trace")
}

/// The open file that a path names. What it leads to may be a regular file, to which output was redirected, and which others write to as well.
fn descriptor(path: &Path) -> Option<u32> {
    match path.to_str()? {
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        other => {
            let number = other.strip_prefix("/dev/fd/").or_else(|| other.strip_prefix("/proc/self/fd/"))?;
            number.parse().ok()
        }
    }
}

/// Whether something is there that is neither a regular file nor a link to one.
fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file())
}

/// Refuses to write over what is read, or twice to the same file.
pub fn check_distinct(inputs: &[&Path], outputs: &[Option<&Path>]) -> anyhow::Result<()> {
    let same = |a: &Path, b: &Path| match (std::fs::canonicalize(a), std::fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    };
    let outputs: Vec<&Path> = outputs.iter().flatten().copied().collect();
    for (at, output) in outputs.iter().enumerate() {
        if let Some(input) = inputs.iter().find(|input| same(input, output)) {
            bail!("{} would be overwritten, and it is read as {}", output.display(), input.display());
        }
        if outputs[..at].iter().any(|other| same(other, output)) && !is_special(output) {
            bail!("{} would be written twice", output.display());
        }
    }
    Ok(())
}

/// A word that a shell takes as it is.
pub fn shell_quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@%=".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}
