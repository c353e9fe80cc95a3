//! The formatter's output, as recorded: every file under `tests/format` with its snapshot.

use crate::common;
#[test]
fn every_file_is_formatted_as_recorded() {
    common::each_file("format", |name, source| {
        let formatted = lang::format(source).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
        assert_eq!(lang::parse(&formatted).unwrap(), lang::parse(source).unwrap(), "{name}");
        assert_eq!(lang::format(&formatted).unwrap(), formatted, "{name}");
        formatted
    });
}
