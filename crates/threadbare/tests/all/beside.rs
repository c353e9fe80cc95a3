//! What is written beside the report: the page for a browser and the trace for Perfetto; and the annotations for GitHub.
#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Runs the tool on an example; gives what it prints.
fn run(example: &str, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_threadbare"))
        .args(["run", "--no-keep", &format!("examples/{example}.tb")])
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The data of the timelines in a page.
fn timelines(example: &str) -> Value {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("report.html");
    let printed = run(example, &["--html", file.to_str().unwrap()]);
    assert!(printed.contains("error: "), "the report is printed all the same");
    let page = std::fs::read_to_string(&file).unwrap();
    let (_, data) = page.split_once("type=\"application/json\">").unwrap();
    serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap()
}

fn rows<'v>(timeline: &'v Value, run: &str) -> &'v [Value] {
    timeline[run]["rows"].as_array().unwrap()
}

#[test]
fn the_recorded_run_has_the_same_steps_in_its_own_order() {
    let timelines = timelines("bank-av");
    let (recorded, witness) = (rows(&timelines[0], "recorded"), rows(&timelines[0], "witness"));
    let events = |rows: &[Value]| rows.iter().map(|row| row["event"].to_string()).collect::<BTreeSet<_>>();
    assert!(events(witness).is_subset(&events(recorded)), "this run has all of them");
    let marked = |rows: &[Value]| -> Vec<String> {
        rows.iter().filter(|row| row["marked"] == true).map(|row| row["text"].to_string()).collect()
    };
    let (read, write) = ("\"read balance[0] = 100\"", "\"write balance[0] := 90\"");
    assert_eq!(marked(recorded), [read, write, "\"write balance[0] := 110\""]);
    assert_eq!(marked(witness), [read, "\"write balance[0] := 120\"", write]);
    let last = |rows: &[Value]| rows.last().unwrap()["text"].clone();
    assert_eq!((last(recorded), last(witness)), ("assert held".into(), "assert failed".into()));
}

#[test]
fn what_a_deadlock_never_reaches_is_marked_in_the_recorded_run() {
    let timelines = timelines("philosophers");
    let marked = rows(&timelines[0], "recorded").iter().filter(|row| row["marked"] == true);
    assert_eq!(marked.map(|row| row["line"].clone()).collect::<Vec<_>>(), [11, 11, 11]);
    assert_eq!(timelines[0]["blocked"].as_array().unwrap().len(), 3);
}

#[test]
fn a_trace_for_perfetto_has_slices_in_turn_and_arrows_with_two_ends() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("trace.json");
    run("bank-av", &["--perfetto", file.to_str().unwrap()]);
    let trace: Value = serde_json::from_str(&std::fs::read_to_string(Path::new(&file)).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |phase: &str| events.iter().filter(|event| event["ph"] == phase).collect::<Vec<_>>();
    let named = |what: &str| of("M").into_iter().filter(|event| event["name"] == what).collect::<Vec<_>>();
    let processes = named("process_name");
    assert_eq!(processes.len(), 3, "the recorded run and two findings");
    assert_eq!(processes[0]["args"]["name"], "recorded run");
    assert_eq!(named("thread_name").len(), 9, "three threads each");

    let mut ends: BTreeMap<u64, u64> = BTreeMap::new();
    for slice in of("X") {
        let (start, end) =
            (slice["ts"].as_u64().unwrap(), ends.entry(slice["pid"].as_u64().unwrap()).or_default());
        assert!(start >= *end, "one thread at a time: {slice}");
        *end = start + slice["dur"].as_u64().unwrap();
        assert!(slice["args"]["thread"].is_string() && slice["args"]["place"].is_string(), "{slice}");
    }
    let (starts, finishes) = (of("s"), of("f"));
    assert!(starts.len() >= 6);
    let ids = |arrows: &[&Value]| arrows.iter().map(|arrow| arrow["id"].to_string()).collect::<BTreeSet<_>>();
    assert_eq!((ids(&starts).len(), ids(&starts)), (starts.len(), ids(&finishes)));
    for arrow in starts.iter().chain(&finishes) {
        let at = arrow["ts"].as_f64().unwrap();
        let inside = |slice: &&&Value| {
            let start = slice["ts"].as_f64().unwrap();
            (start..=start + 1.0).contains(&at)
                && slice["tid"] == arrow["tid"]
                && slice["pid"] == arrow["pid"]
        };
        assert!(of("X").iter().any(|slice| inside(&slice)), "an arrow binds to a slice: {arrow}");
    }
}

#[test]
fn github_gets_an_annotation_for_each_finding() {
    let printed = run("bank-av", &["--format", "github"]);
    let lines: Vec<&str> = printed.lines().collect();
    let start =
        "::error file=examples/bank-av.tb,line=16,col=5,title=atomicity violation::atomicity violation: ";
    assert!(lines[0].starts_with(start), "{}", lines[0]);
    assert!(lines[0].contains("%0Ato see it: threadbare replay examples/bank-av.tb '"), "{}", lines[0]);
    assert!(lines[1].starts_with("::error file=examples/bank-av.tb,line=32,col=5,title=failing assertion::"));
    assert!(lines[2].starts_with("2 findings: "), "people read the log too");
}

#[test]
fn the_program_is_not_overwritten() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("program.tb");
    std::fs::write(&program, "int x;\nthread T { x = 1; }\n").unwrap();
    for flag in ["--html", "--perfetto"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_threadbare"));
        let output =
            command.args(["run", "--no-keep"]).arg(&program).arg(flag).arg(&program).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("would be overwritten"));
    }
    assert!(std::fs::read_to_string(&program).unwrap().starts_with("int x;"));
}
