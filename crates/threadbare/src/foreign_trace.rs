//! Reading traces of other tools, and what is said if that fails.

use crate::cli::FormatName;
use crate::load;
use anyhow::Context as _;
use foreign::{Complaint, Format, Recording, StandIn};
use std::path::Path;

/// The recording in a file, if it is one of another tool: because it is said to be, or by its name.
pub fn recording(path: &Path, format: Option<FormatName>) -> anyhow::Result<Option<Recording>> {
    Ok(read(path, format)?.map(|(recording, _)| recording))
}

/// What stands in for the program of a trace of another tool, if the file is one.
pub fn stand_in(path: &Path, format: Option<FormatName>) -> anyhow::Result<Option<StandIn>> {
    let Some((recording, bytes)) = read(path, format)? else { return Ok(None) };
    let name = path.display().to_string();
    let made = StandIn::new(&recording, &name);
    made.map(Some).map_err(|complaint| diagnostics(vec![complaint], &name, &bytes))
}

fn read(path: &Path, format: Option<FormatName>) -> anyhow::Result<Option<(Recording, Vec<u8>)>> {
    let may_be = path
        .extension()
        .is_some_and(|extension| ["std", "csv"].iter().any(|known| extension.eq_ignore_ascii_case(known)));
    if format.is_none() && !may_be {
        return Ok(None);
    }
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let format = match format {
        Some(FormatName::Std) => Some(Format::Std),
        Some(FormatName::RapidCsv) => Some(Format::RapidCsv),
        Some(FormatName::Csv) => Some(Format::Csv),
        None => Format::guess(path, &bytes),
    };
    let Some(format) = format else { return Ok(None) };
    match format.read(&bytes) {
        Ok(recording) => Ok(Some((recording, bytes))),
        Err(complaints) => Err(diagnostics(complaints, &path.display().to_string(), &bytes)),
    }
}

/// Complaints as a compiler makes them, with the lines that they are about.
fn diagnostics(complaints: Vec<Complaint>, path: &str, bytes: &[u8]) -> anyhow::Error {
    let text = String::from_utf8_lossy(bytes);
    let mut starts = vec![0];
    starts.extend(text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1));
    let line = |number: u32| {
        let start = starts.get((number as usize).saturating_sub(1)).copied().unwrap_or(text.len());
        let whole = text[start..].lines().next().unwrap_or_default();
        (start, whole.len())
    };
    let span = |number: u32, part: Option<std::ops::Range<u32>>| {
        let (start, length) = line(number);
        let part = part.map_or(0..length, |part| part.start as usize..part.end as usize);
        let (from, to) = (start + part.start.min(length), start + part.end.min(length));
        let column = text.get(start..from).map_or(0, |before| before.chars().count()) as u32 + 1;
        lang::Span { start: from as u32, end: to as u32, line: number, column, end_line: number }
    };
    let all = complaints.into_iter().map(|complaint| {
        let mut diagnostic = lang::Diagnostic::new(span(complaint.line, complaint.bytes), complaint.message)
            .here(complaint.here);
        if let Some((number, why)) = complaint.other {
            diagnostic = diagnostic.label(span(number, None), why);
        }
        match complaint.help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        }
    });
    load::diagnostics(&all.collect::<Vec<_>>(), path, &text)
}
