//! Each message, as the user sees it: every file under `tests/errors` with its rendered errors as a snapshot.

use crate::common;
#[test]
fn every_message_is_as_recorded() {
    common::each_file("errors", |name, source| {
        let Err(errors) = lang::compile(source, &lang::LowerOptions::default()) else {
            panic!("{name}.tb has no error");
        };
        assert!(errors.len() <= lang::MAX_ERRORS);
        let path = format!("{name}.tb");
        let text: Vec<String> = errors.iter().map(|e| lang::render(e, &path, source, false)).collect();
        text.join("\n\n")
    });
}
