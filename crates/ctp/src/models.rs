//! Functions outside the program of which it is known that they only tell: what they are given goes to a file
//! or a terminal, and comes back to no thread. They pin nothing and may come in any order
//! (docs/design/concurrent-trace-programs.md, "Outside functions").

/// What the result of a function depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Telling {
    /// On what it was given: how much was written.
    Counts,
    /// On nothing that another schedule changes: the stream itself, or nothing at all.
    Settled,
}

const COUNTS: [&str; 22] = [
    "__fprintf_chk",
    "__printf_chk",
    "__vfprintf_chk",
    "__vprintf_chk",
    "dprintf",
    "fflush",
    "fprintf",
    "fputc",
    "fputs",
    "fputwc",
    "fputws",
    "fwrite",
    "perror",
    "printf",
    "putc",
    "putchar",
    "puts",
    "putwchar",
    "syslog",
    "vfprintf",
    "vprintf",
    "wprintf",
];

/// Families by how their names begin: output streams of C++.
const SETTLED: [&str; 6] =
    ["_ZNSo3put", "_ZNSo5flush", "_ZNSo5write", "_ZNSols", "_ZNSo9_M_insert", "_ZSt16__ostream_insert"];

/// Whether a function only tells, and what its result is.
pub fn telling(symbol: &str) -> Option<Telling> {
    match () {
        () if COUNTS.binary_search(&symbol).is_ok() => Some(Telling::Counts),
        () if SETTLED.iter().any(|family| symbol.starts_with(family)) => Some(Telling::Settled),
        // `operator<<` of streams and strings, characters, numbers; and `endl`.
        () if symbol.starts_with("_ZStls") || symbol.starts_with("_ZSt4endl") => Some(Telling::Settled),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_so_that_it_can_be_searched() {
        assert!(COUNTS.is_sorted());
        assert_eq!(telling("printf"), Some(Telling::Counts));
        assert_eq!(
            telling("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc"),
            Some(Telling::Settled)
        );
        assert_eq!(telling("read"), None);
    }
}
