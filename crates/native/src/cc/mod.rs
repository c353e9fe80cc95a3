//! `threadbare cc` and `threadbare c++`: clang with our plugin, our runtime and debug information.
//!
//! Build systems call it in place of the compiler, so that it has to take every command line that gcc and clang take, answer
//! every question about the compiler, and change nothing else. [`rewrite`] is the whole of it, a function from words to words;
//! [`command`] finds clang and the parts of Threadbare. The process becomes clang: exit codes, signals and output are
//! clang's own.
//!
//! Refused, with what to do instead, is only what cannot work: a program without our runtime (`-static`), code that the
//! plugin does not see (`-flto`), memory or threads that somebody else has taken over (`-fsanitize`, `-fopenmp`), other
//! processors.

mod response;
mod words;

use crate::toolchain::{Toolchain, ToolchainError, clang};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

/// Which compiler is stood in for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// `cc`
    C,
    /// `c++`
    Cxx,
}

/// Why something is not compiled.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CompileError {
    /// Something is not installed.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// An option that cannot work.
    #[error("{option} cannot be used with Threadbare: {why}")]
    Refused {
        /// Which.
        option: String,
        /// Why, and what to do.
        why: &'static str,
    },
}

/// The command that compiles: clang with these arguments and ours.
///
/// # Errors
/// If clang or a part of Threadbare is missing, or an option cannot work.
pub fn command(
    language: Language,
    toolchain: &Toolchain,
    arguments: &[OsString],
) -> Result<Command, CompileError> {
    let mut command = Command::new(clang()?);
    if language == Language::Cxx {
        command.arg("--driver-mode=g++");
    }
    let rewritten = rewrite(toolchain, arguments)?;
    // Questions about the compiler are answered even where Threadbare's own parts are not built yet.
    if rewritten.as_slice() != arguments {
        toolchain.check()?;
    }
    command.args(rewritten);
    Ok(command)
}

/// What a command line asks for.
#[derive(Default)]
struct Asked {
    /// Files and `-` are there to work on.
    inputs: bool,
    stops_before_linking: bool,
    /// Only a question about the compiler.
    only_asks: bool,
}

/// The words that clang gets: those of the user but for what gcc alone knows, behind ours.
///
/// # Errors
/// If an option cannot work.
pub fn rewrite(toolchain: &Toolchain, arguments: &[OsString]) -> Result<Vec<OsString>, CompileError> {
    let mut asked = Asked::default();
    let mut kept: Vec<OsString> = vec![];
    let mut values = 0;
    let mut linking_options: Vec<String> = vec![];
    for argument in arguments {
        let text = argument.to_string_lossy();
        let expanded = text.strip_prefix('@').and_then(|path| response::words(Path::new(path)));
        let Some(inner) = expanded else {
            if look(&text, &mut values, &mut asked, &mut linking_options)? {
                kept.push(argument.clone());
            }
            continue;
        };
        let mut all = true;
        let mut inside = vec![];
        for word in inner {
            match look(&word, &mut values, &mut asked, &mut linking_options)? {
                true => inside.push(OsString::from(word)),
                false => all = false,
            }
        }
        // The file stays one word where it can: it is there because there are too many of them.
        match all {
            true => kept.push(argument.clone()),
            false => kept.extend(inside),
        }
    }
    if asked.only_asks || !asked.inputs {
        return Ok(arguments.to_vec());
    }
    let links = !asked.stops_before_linking;
    if links && let Some(option) = linking_options.pop() {
        return Err(refused(&option, STATIC));
    }
    let mut rewritten = ours(toolchain, links);
    rewritten.extend(kept);
    Ok(rewritten)
}

const STATIC: &str =
    "its runtime is a shared library; link without it (libraries as archives are no problem)";

/// Takes note of a word; gives whether clang is to see it.
fn look(
    word: &str,
    values: &mut u32,
    asked: &mut Asked,
    linking: &mut Vec<String>,
) -> Result<bool, CompileError> {
    if *values > 0 {
        *values -= 1;
        return Ok(true);
    }
    if !word.starts_with('-') || word == "-" {
        asked.inputs = true;
        return Ok(true);
    }
    *values = u32::from(words::takes_value(word));
    asked.only_asks |= words::only_asks(word);
    asked.stops_before_linking |= words::stops_before_linking(word);
    if matches!(word, "-static" | "--static" | "-static-pie") {
        linking.push(word.to_owned());
    }
    refuse(word)?;
    Ok(!words::is_gcc_only(word) && !words::is_too_little_debug(word))
}

/// Refuses what cannot work, whatever else is asked.
fn refuse(word: &str) -> Result<(), CompileError> {
    if word == "-flto" || word.starts_with("-flto=") {
        return Err(refused(
            word,
            "the compiler plugin works on one file at a time; build without link-time optimisation (-fno-lto)",
        ));
    }
    if word.starts_with("-fsanitize=") {
        return Err(refused(
            word,
            "both take over memory and threads; build without it, or with it and plain clang",
        ));
    }
    if word == "-fopenmp" || word.starts_with("-fopenmp=") {
        return Err(refused(
            word,
            "OpenMP's own threads wait in ways that cannot be scheduled; build without it, or with -fopenmp-simd",
        ));
    }
    if matches!(word, "-m32" | "-mx32" | "-m16") {
        return Err(refused(word, "only 64-bit x86 is supported; build without it"));
    }
    if let Some(target) = word.strip_prefix("--target=")
        && !(target.starts_with("x86_64") && target.contains("linux"))
    {
        return Err(refused(word, "only x86_64 Linux is supported"));
    }
    Ok(())
}

fn refused(option: &str, why: &'static str) -> CompileError {
    CompileError::Refused { option: option.to_owned(), why }
}

/// What we add. In front of everything, so that the user's words win where they contradict, and so that the runtime comes before
/// every library: its functions are then taken for libstdc++ too.
fn ours(toolchain: &Toolchain, links: bool) -> Vec<OsString> {
    let joined = |prefix: &str, path: &Path| {
        let mut word = OsString::from(prefix);
        word.push(path);
        word
    };
    // Which of ours is of no use depends on what the inputs are (assembly, objects); clang need not say so.
    let mut ours: Vec<OsString> = vec!["--start-no-unused-arguments".into()];
    ours.push(joined("-fpass-plugin=", &toolchain.plugin()));
    ours.extend(
        [
            "-g",
            "-Xclang",
            "-disable-O0-optnone",
            "-D__THREADBARE__=1",
            "-Wno-unknown-warning-option",
            "-Wno-ignored-optimization-argument",
            "-isystem",
        ]
        .map(OsString::from),
    );
    ours.push(toolchain.include().into());
    if links {
        ours.extend(["-pthread", "-Wl,--push-state,--no-as-needed"].map(OsString::from));
        ours.push(toolchain.runtime().into());
        ours.push(OsStr::new("-Wl,--pop-state").to_owned());
        ours.push(joined("-Wl,-rpath,", toolchain.lib()));
    }
    ours.push("--end-no-unused-arguments".into());
    ours
}
