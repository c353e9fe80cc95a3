//! What the commands print, as the documents and `tests/cmd/` show it. `TRYCMD=overwrite` accepts changes.

#[test]
fn commands_print_what_is_shown() {
    // The documents speak of the repository's root.
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    std::fs::create_dir_all("target/tmp").unwrap();
    trycmd::TestCases::new()
        .case("README.md")
        .case("docs/patterns.md")
        .case("docs/prediction.md")
        .case("docs/exploration.md")
        .case("docs/memory-models.md")
        .case("docs/planning.md")
        .case("docs/other-traces.md")
        .case("crates/threadbare/tests/cmd/*.trycmd");
}
