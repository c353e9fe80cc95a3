//! What a process that was killed had not written to its log yet (`abi::page`).

use abi::page::{ADDRESS, MAPPED, PENDING, PENDING_END, TAIL_SUFFIX};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Result, Write as _};
use std::path::Path;

/// Adds what is in the tail of a log to the log, and removes the tail. A log without a tail is complete.
pub fn complete(log: &Path) -> Result<()> {
    let mut path = log.as_os_str().to_owned();
    path.push(TAIL_SUFFIX);
    let Ok(file) = File::open(&path) else { return Ok(()) };
    let mut tail = vec![];
    file.take(MAPPED as u64).read_to_end(&mut tail)?;
    let pending = pending(&tail);
    if !pending.is_empty() {
        OpenOptions::new().append(true).open(log)?.write_all(pending)?;
    }
    std::fs::remove_file(path)
}

/// The bytes of a tail that are not in the log. The process may have died at any moment: what makes no sense is nothing.
fn pending(tail: &[u8]) -> &[u8] {
    let word = |address: u64| {
        let at = usize::try_from(address - ADDRESS).ok()?;
        tail.get(at..at + 8)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
    };
    let offset = |address: u64| usize::try_from(address.checked_sub(ADDRESS)?).ok();
    let end = match word(PENDING_END) {
        // Instrumented code's own end is where it writes next.
        Some(0) => word(abi::page::CURSOR),
        end => end,
    };
    let range = (word(PENDING).and_then(offset), end.and_then(offset));
    match range {
        (Some(start), Some(end)) => tail.get(start..end).unwrap_or_default(),
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use abi::page::BYTES;

    fn tail(words: &[(u64, u64)]) -> Vec<u8> {
        let mut tail: Vec<u8> = (0..MAPPED).map(|at| at as u8).collect();
        tail[..BYTES].fill(0);
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
        assert_eq!(pending(&told), &told[BYTES + 16..BYTES + 48]);
        let to_cursor = tail(&[(PENDING, start), (abi::page::CURSOR, start + 32)]);
        assert_eq!(pending(&to_cursor), &to_cursor[BYTES..BYTES + 32]);
    }

    #[test]
    fn a_tail_that_makes_no_sense_has_nothing() {
        assert_eq!(pending(&[]), &[] as &[u8]);
        assert_eq!(pending(&tail(&[])), &[] as &[u8]);
        assert_eq!(pending(&tail(&[(PENDING, u64::MAX), (PENDING_END, 1)])), &[] as &[u8]);
        assert_eq!(pending(&tail(&[(PENDING, ADDRESS + 64), (PENDING_END, u64::MAX)])), &[] as &[u8]);
    }
}
