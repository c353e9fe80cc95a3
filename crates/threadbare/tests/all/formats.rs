//! JSON and SARIF are as their schemas say: ours in `docs/`, and that of SARIF 2.1.0 as the crate `serde-sarif` brings it along.
#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

const EXAMPLES: [&str; 6] =
    ["bank-av", "mm-fig2", "av-fig1a-modified", "philosophers", "plan-fig1a", "av-fig1b"];

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

const STRATEGIES: [&str; 6] = ["all", "dpor", "prune", "paths", "random", "pct"];

fn report(arguments: &[&str], format: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_threadbare"))
        .args(arguments)
        .args(["--no-keep", "--format", format])
        .current_dir(root())
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn validate(schema: &Value, name: &str, report: &Value) {
    let validator = jsonschema::validator_for(schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(report).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{name}: {}", errors.join("\n"));
}

fn check(schema: &Value, format: &str) -> Vec<Value> {
    let reports = EXAMPLES.map(|example| report(&["run", &format!("examples/{example}.tb")], format));
    EXAMPLES.iter().zip(&reports).for_each(|(example, report)| validate(schema, example, report));
    reports.to_vec()
}

/// What each strategy says of a program.
fn explored(schema: &Value, example: &str, format: &str) -> Vec<Value> {
    let one = |strategy: &&str| {
        let program = format!("examples/{example}.tb");
        let report = report(&["explore", "--strategy", strategy, &program], format);
        validate(schema, &format!("{strategy} of {example}"), &report);
        report
    };
    STRATEGIES.iter().map(one).collect()
}

/// The kinds of findings that a report has.
fn kinds(report: &Value) -> BTreeSet<&str> {
    report["findings"].as_array().unwrap().iter().map(|finding| finding["kind"].as_str().unwrap()).collect()
}

#[test]
fn json_is_as_its_schema_says() {
    let schema = std::fs::read_to_string(root().join("docs/findings.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let reports = check(&schema, "json");
    assert_eq!(reports[0]["findings"][0]["kind"], "atomicity-violation");
    assert_eq!(reports[3]["findings"][0]["kind"], "deadlock");
    let mut broken = reports[0].clone();
    broken["findings"][0]["kind"] = Value::from("noise");
    assert!(!jsonschema::is_valid(&schema, &broken), "the schema refuses what is not so");
    // Each strategy of exploration speaks in the same way.
    for (strategy, report) in STRATEGIES.iter().zip(explored(&schema, "philosophers", "json")) {
        assert_eq!(kinds(&report), BTreeSet::from(["deadlock"]), "{strategy}");
        assert_eq!(report["exploration"]["verdict"], "findings", "{strategy}");
        assert_eq!(report["exploration"]["strategy"], **strategy);
        let finding = &report["findings"][0];
        assert!(finding["confirmed"].as_bool().unwrap() && finding["replay"].is_string(), "{strategy}");
        assert!(!finding["interleaving"].as_array().unwrap().is_empty(), "{strategy}");
    }
    // Those that go through all schedules find the same, and each finding is seen when the program is run again.
    for (strategy, report) in STRATEGIES.iter().zip(explored(&schema, "bank-av", "json")).take(4) {
        let expected = BTreeSet::from(["assertion-failure", "atomicity-violation"]);
        assert_eq!(kinds(&report), expected, "{strategy}");
        let findings = report["findings"].as_array().unwrap();
        assert!(findings.iter().all(|finding| finding["confirmed"] == true), "{strategy}: {report:#}");
    }
    let said: Vec<Value> = explored(&schema, "readers-writers", "json");
    let verdicts: Vec<&str> =
        said.iter().map(|report| report["exploration"]["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts[..4], ["safe"; 4]);
    assert_eq!(verdicts[4..], ["nothing-drawn"; 2]);
    assert!(!said[0]["exploration"]["finalStates"].as_array().unwrap().is_empty());
}

#[test]
fn sarif_is_as_its_schema_says() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        // Only of this platform everything has been fetched.
        .args(["--filter-platform", &format!("{}-unknown-linux-gnu", std::env::consts::ARCH)])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let package = packages.iter().find(|package| package["name"] == "serde-sarif").unwrap();
    let manifest = PathBuf::from(package["manifest_path"].as_str().unwrap());
    let schema = std::fs::read_to_string(manifest.with_file_name("src/schema.json")).unwrap();
    let mut schema: Value = serde_json::from_str(&schema).unwrap();
    // The pattern of languages has a bracket too many, which is no regular expression; we give none.
    for holder in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][holder]["properties"]["language"];
        language.as_object_mut().unwrap().remove("pattern");
    }
    let reports = check(&schema, "sarif");
    for report in explored(&schema, "philosophers", "sarif") {
        assert_eq!(report["runs"][0]["results"][0]["ruleId"], "deadlock");
        assert_eq!(report["runs"][0]["properties"]["exploration"]["verdict"], "findings");
    }
    let result = &reports[0]["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "atomicity-violation");
    let flows = result["codeFlows"][0]["threadFlows"].as_array().unwrap();
    assert_eq!(flows.len(), 3, "a flow for each thread");
    let mut broken = reports[0].clone();
    broken["runs"][0]["results"][0]["message"] = Value::Null;
    assert!(!jsonschema::is_valid(&schema, &broken), "the schema refuses what is not so");
}

#[test]
fn a_tree_goes_into_the_file_that_output_was_redirected_to() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("output");
    let status = Command::new(env!("CARGO_BIN_EXE_threadbare"))
        .args([
            "explore",
            "--strategy",
            "dpor",
            "--no-keep",
            "--dot",
            "/dev/stdout",
            "examples/readers-writers.tb",
        ])
        .current_dir(root())
        .stdout(std::fs::File::create(&path).unwrap())
        .status()
        .unwrap();
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(status.success() && written.starts_with("digraph runs {"), "{written}");
    assert!(written.contains("runs: "), "what else is printed is there too: {written}");
}
