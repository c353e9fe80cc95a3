//! What programs become in program IR, as recorded: every file under `tests/lower`, the papers' examples among
//! them, with its text form as a snapshot.

use crate::common;
#[test]
fn every_program_is_lowered_as_recorded() {
    common::each_file("lower", |name, source| {
        let options =
            lang::LowerOptions { name: name.to_owned(), path: format!("{name}.tb"), ..Default::default() };
        let program = lang::compile(source, &options).unwrap_or_else(|errors| {
            let text: Vec<String> = errors.iter().map(|e| lang::render(e, name, source, false)).collect();
            panic!("{}", text.join("\n"))
        });
        assert_eq!(ir::verify(&program), Ok(()));
        ir::print(&program)
    });
}
