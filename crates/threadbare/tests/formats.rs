//! JSON and SARIF are as their schemas say: ours in `docs/`, and that of SARIF 2.1.0 as the crate `serde-sarif` brings it along.
#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

const EXAMPLES: [&str; 6] =
    ["bank-av", "mm-fig2", "av-fig1a-modified", "philosophers", "plan-fig1a", "av-fig1b"];

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn report(example: &str, format: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_threadbare"))
        .args(["run", &format!("examples/{example}.tb"), "--format", format])
        .current_dir(root())
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

fn check(schema: &Value, format: &str) -> Vec<Value> {
    let validator = jsonschema::validator_for(schema).unwrap();
    let reports = EXAMPLES.map(|example| report(example, format));
    for (example, report) in EXAMPLES.iter().zip(&reports) {
        let errors: Vec<String> = validator.iter_errors(report).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{example}: {}", errors.join("\n"));
    }
    reports.to_vec()
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
    let result = &reports[0]["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "atomicity-violation");
    let flows = result["codeFlows"][0]["threadFlows"].as_array().unwrap();
    assert_eq!(flows.len(), 3, "a flow for each thread");
    let mut broken = reports[0].clone();
    broken["runs"][0]["results"][0]["message"] = Value::Null;
    assert!(!jsonschema::is_valid(&schema, &broken), "the schema refuses what is not so");
}
