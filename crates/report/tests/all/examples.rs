//! The oracle's answers for every program in `examples/`, as snapshots beside the programs. Each program explains them in its
//! first comment.

use machine::oracle::{self, Method, Question};
use machine::{Machine, Options};
use report::Sources;
use std::path::Path;

#[test]
fn every_example_has_the_answers_that_it_explains() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(&directory);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let mut programs: Vec<_> = std::fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "tb"))
        .collect();
    programs.sort();
    assert!(programs.len() >= 17);
    for path in programs {
        let source = std::fs::read_to_string(&path).unwrap();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let name = format!("examples/{stem}.tb");
        let options = lang::LowerOptions { name: name.clone(), path: name.clone(), ..Default::default() };
        let program = lang::compile(&source, &options).unwrap_or_else(|errors| {
            panic!("{}", errors.iter().map(|e| lang::render(e, &name, &source, false)).collect::<String>())
        });
        let machine = Machine::new(program, Options::default()).unwrap();
        let answers = oracle::ask(&machine, &Question { method: Method::Stateful, ..Question::default() });
        let sources = Sources::new(machine.program(), false, |_| Some(source.clone()));
        let replay = format!("threadbare replay {name}");
        let location = |at| machine.location_name(at);
        let report = report::exploration(&answers, &sources, &location, &replay);
        settings.bind(|| insta::assert_snapshot!(stem, report));
    }
}
