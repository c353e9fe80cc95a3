//! Tests that are directories of `.tb` files, each with a snapshot beside it.

use std::path::Path;

/// Calls `text` with the name and content of each file of a directory under `tests`, and compares what it gives with
/// the snapshot of that name.
pub fn each_file(directory: &str, text: impl Fn(&str, &str) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(directory);
    let mut files: Vec<_> = std::fs::read_dir(&path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "tb"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let source = std::fs::read_to_string(&file).unwrap();
        let name = file.file_stem().unwrap().to_str().unwrap();
        let text = text(name, &source);
        insta::with_settings!({
            snapshot_path => path.clone(), prepend_module_to_snapshot => false, omit_expression => true
        }, {
            insta::assert_snapshot!(name, text);
        });
    }
}
