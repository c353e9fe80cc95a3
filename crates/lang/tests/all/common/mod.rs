//! Tests that are directories of `.tb` files, each with a snapshot beside it.

use std::path::Path;

/// Calls `text` with the name and content of each file of a directory under `tests`, and compares what it gives
/// with the snapshot of that name.
pub fn each_file(directory: &str, text: impl Fn(&str, &str) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(directory);
    let entries = std::fs::read_dir(&path).expect("the directory is part of the repository");
    let mut files: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "tb"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let source = std::fs::read_to_string(&file).expect("the file can be read");
        let name = file.file_stem().and_then(|name| name.to_str()).expect("the name is ASCII");
        let text = text(name, &source);
        insta::with_settings!({
            snapshot_path => path.clone(), prepend_module_to_snapshot => false, omit_expression => true
        }, {
            insta::assert_snapshot!(name, text);
        });
    }
}
