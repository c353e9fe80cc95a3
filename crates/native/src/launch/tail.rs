//! What a process that was killed had not written to its log yet (`abi::page`).

use abi::page::{ADDRESS, CURSOR, MAPPED, PENDING, PENDING_END, PROCESS, TAIL_SUFFIX};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{Result, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// The words at the start of a tail.
const WORDS: usize = 96;

/// Where the tail of a log is.
pub fn path(log: &Path) -> PathBuf {
    let mut path = OsString::from(log);
    path.push(TAIL_SUFFIX);
    path.into()
}

/// Adds what is in the tail of a log to the log, and removes the tail. A log without a tail is complete.
pub fn complete(log: &Path) -> Result<()> {
    let path = path(log);
    let Ok(tail) = File::open(&path) else { return Ok(()) };
    let pending = pending(&tail)?;
    if !pending.is_empty() {
        OpenOptions::new().append(true).open(log)?.write_all(&pending)?;
    }
    std::fs::remove_file(path)
}

/// The bytes of a tail that are not in the log.
pub fn pending(tail: &File) -> Result<Vec<u8>> {
    let Some((start, end)) = pending_between(&words(tail)?) else { return Ok(vec![]) };
    let mut bytes = vec![0; end - start];
    tail.read_exact_at(&mut bytes, start as u64)?;
    Ok(bytes)
}

/// The kernel's number of the process that writes to a tail; `None` if there is none yet.
pub fn process(tail: &File) -> Option<i32> {
    let process = word(&words(tail).ok()?, PROCESS);
    i32::try_from(process).ok().filter(|&process| process > 0)
}

fn words(tail: &File) -> Result<[u8; WORDS]> {
    let mut words = [0; WORDS];
    match tail.metadata()?.len() {
        length if length < MAPPED as u64 => {}
        _ => tail.read_exact_at(&mut words, 0)?,
    }
    Ok(words)
}

fn word(words: &[u8; WORDS], address: u64) -> u64 {
    let at = (address - ADDRESS) as usize;
    words.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Where in a tail those bytes are. The process may have died at any moment: what makes no sense is nothing.
fn pending_between(words: &[u8; WORDS]) -> Option<(usize, usize)> {
    let offset = |address: u64| usize::try_from(address.checked_sub(ADDRESS)?).ok();
    let end = match word(words, PENDING_END) {
        // Instrumented code's own end is where it writes next.
        0 => word(words, CURSOR),
        end => end,
    };
    let (start, end) = (offset(word(words, PENDING))?, offset(end)?);
    (start < end && end <= MAPPED).then_some((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use abi::page::BYTES;

    fn tail(words: &[(u64, u64)]) -> [u8; WORDS] {
        let mut tail = [0; WORDS];
        for (address, value) in words {
            let at = (address - ADDRESS) as usize;
            tail[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        tail
    }

    #[test]
    fn what_is_pending_is_between_the_two_words_or_up_to_the_cursor() {
        let start = ADDRESS + BYTES as u64;
        let told = tail(&[(PENDING, start + 16), (PENDING_END, start + 48)]);
        assert_eq!(pending_between(&told), Some((BYTES + 16, BYTES + 48)));
        let to_cursor = tail(&[(PENDING, start), (CURSOR, start + 32)]);
        assert_eq!(pending_between(&to_cursor), Some((BYTES, BYTES + 32)));
    }

    #[test]
    fn a_tail_that_makes_no_sense_has_nothing() {
        assert_eq!(pending_between(&tail(&[])), None);
        assert_eq!(pending_between(&tail(&[(PENDING, u64::MAX), (PENDING_END, 1)])), None);
        assert_eq!(pending_between(&tail(&[(PENDING, ADDRESS + 64), (PENDING_END, u64::MAX)])), None);
    }

    #[test]
    fn the_bytes_of_a_file_are_those_that_its_words_name() {
        let mut file = tempfile::tempfile().expect("a file");
        assert_eq!(pending(&file).expect("an empty file"), b"");
        let mut content =
            tail(&[(PENDING, ADDRESS + 4096), (PENDING_END, ADDRESS + 4099), (PROCESS, 7)]).to_vec();
        content.resize(4096, 0);
        content.extend(b"abc");
        content.resize(MAPPED, 0);
        file.write_all(&content).expect("room for it");
        assert_eq!(pending(&file).expect("a tail"), b"abc");
        assert_eq!(process(&file), Some(7));
    }
}
