//! What is found is kept in `.threadbare`, can be shown and replayed, and what is known fails nothing.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common::threadbare;
use std::process::Output;

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn bank() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/bank-av.tb");
    std::fs::copy(source, directory.path().join("bank.tb")).unwrap();
    directory
}

#[test]
fn a_run_is_kept_listed_shown_replayed_and_thrown_away() {
    let directory = bank();
    let here = directory.path();
    assert!(text(&threadbare(here, &["list"])).contains("nothing is kept"));
    let found = threadbare(here, &["run", "bank.tb"]);
    assert_eq!(found.status.code(), Some(1));
    let said = text(&found);
    let id = said.lines().last().unwrap().split_whitespace().nth(2).unwrap().to_owned();
    assert!(id.starts_with("bank-"), "{said}");
    let list = text(&threadbare(here, &["list"]));
    assert!(list.starts_with(&format!("{id}  bank.tb\n    1. atomicity violation")), "{list}");
    let shown = text(&threadbare(here, &["show", &id]));
    assert!(said.contains(&shown[..shown.len() - 1]), "what is shown is what was said:\n{shown}");
    for finding in [id.clone(), format!("{id}/2")] {
        let replayed = threadbare(here, &["replay", &finding]);
        assert_eq!(replayed.status.code(), Some(1), "{finding}");
        assert!(text(&replayed).contains("assertion failed"), "{finding}");
    }
    assert_eq!(threadbare(here, &["replay", &format!("{id}/9")]).status.code(), Some(2));
    assert_eq!(threadbare(here, &["show", "../bank"]).status.code(), Some(2));
    // The same again has the same id, and takes the place of the first.
    threadbare(here, &["run", "bank.tb"]);
    assert_eq!(text(&threadbare(here, &["list"])), list);
    assert_eq!(text(&threadbare(here, &["clean"])), "removed 1 run\n");
    assert!(text(&threadbare(here, &["list"])).contains("nothing is kept"));
    let left = std::fs::read_dir(here.join(".threadbare/runs")).unwrap().count();
    assert_eq!(left, 0, "nothing is left aside");
}

#[test]
fn two_runs_at_once_do_not_disturb_each_other() {
    let directory = bank();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let found = threadbare(directory.path(), &["run", "bank.tb"]);
                assert!(text(&found).contains("kept as bank-"));
            });
        }
    });
    let list = text(&threadbare(directory.path(), &["list"]));
    assert_eq!(list.lines().filter(|line| line.starts_with("bank-")).count(), 1, "{list}");
}

#[test]
fn known_findings_fail_nothing() {
    let directory = bank();
    let here = directory.path();
    let json = threadbare(here, &["run", "bank.tb", "--format", "json", "--no-keep"]);
    std::fs::write(here.join("baseline.json"), &json.stdout).unwrap();
    let again = threadbare(here, &["run", "bank.tb", "--baseline", "baseline.json"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again));
    assert!(text(&again).contains("known from baseline.json: 2"));
    let report: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let id = report["findings"][0]["id"].as_str().unwrap();
    std::fs::write(here.join("threadbare.suppressions"), format!("{id} the sum may be wrong\n")).unwrap();
    let again = threadbare(here, &["run", "bank.tb"]);
    assert_eq!(again.status.code(), Some(1), "the other finding is left");
    assert!(text(&again).contains("suppressed: atomicity violation"), "{}", text(&again));
    assert!(text(&again).contains("(the sum may be wrong)"));
    std::fs::write(here.join("threadbare.suppressions"), format!("{id}\n")).unwrap();
    assert_eq!(threadbare(here, &["run", "bank.tb"]).status.code(), Some(2), "a reason is required");
}

#[test]
fn an_id_survives_edits_elsewhere() {
    let directory = bank();
    let here = directory.path();
    let ids = || {
        let output = threadbare(here, &["run", "bank.tb", "--format", "json"]);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        report["findings"].as_array().unwrap().iter().map(|f| f["id"].clone()).collect::<Vec<_>>()
    };
    let before = ids();
    let source = std::fs::read_to_string(here.join("bank.tb")).unwrap();
    std::fs::write(here.join("bank.tb"), format!("// One more line.\nint other;\n{source}")).unwrap();
    assert_eq!(ids(), before);
}
