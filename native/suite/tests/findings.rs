//! Small programs with what is expected of each beside it: the classic bugs that others miss or report in vain.
//!
//! A program in `programs/findings/` says in its first comment what is found from one run of it, each as
//! `// finds: KIND LINES: CONSEQUENCE`. None may be missing, none may be there besides, each must be confirmed by the replay. Those whose
//! comment has no such line are right, and nothing is found in them.

use claim::{Candidate, Consequence, Finding, Standing};
use ir::SiteIndex;
use predict::{Normal, Options, predict_and_confirm};
use std::collections::BTreeSet;
use std::time::Duration;
use subject::{Strategy, Subject as _};
use suite::{Build, Program, build, for_each, open, programs};
use trace::Logging;

fn kind(candidate: &Candidate) -> &'static str {
    match candidate {
        Candidate::Atomicity { .. } => "atomicity",
        Candidate::CoEnabledRace { .. } | Candidate::UnorderedRace { .. } => "race",
        Candidate::Assertion { .. } => "assertion",
        Candidate::Fault { .. } => "crash",
        Candidate::Deadlock(_) => "deadlock",
        Candidate::Pattern(_) => "pattern",
    }
}

fn consequence(finding: &Finding) -> &'static str {
    match finding.consequence {
        Consequence::Crashed { .. } => "crash",
        Consequence::AssertionFailed { .. } => "assertion",
        Consequence::Deadlocked => "deadlock",
        Consequence::OtherResult(_) => "other result",
        Consequence::None => "none",
        Consequence::NotSeen => "not seen",
    }
}

/// What a program's comment expects.
fn expected(program: &Program) -> BTreeSet<String> {
    let source = std::fs::read_to_string(&program.path).expect("a source");
    source.lines().filter_map(|line| line.strip_prefix("// finds: ")).map(str::to_owned).collect()
}

/// What is found, as the comments have it. Atomicity violations that nobody would notice are no findings.
fn found(program: &Program) -> BTreeSet<String> {
    let built = build(program, &Build::at("-O1"));
    let compiled = open(&built.path);
    let trace = compiled.record(&Strategy::RunToBlock, &Logging::Everything).expect("it runs").run.trace;
    let normal = Normal::of(&compiled, &trace, 4).expect("it runs");
    let mut options = Options::default();
    options.engine.limits.time = Some(Duration::from_secs(10));
    let prediction =
        predict_and_confirm(&compiled, &trace, &options, &normal, &mut |_| {}).expect("a prediction");
    let code = compiled.program();
    let sites = SiteIndex::new(code);
    let told = prediction.findings.iter().filter(|f| !f.is_inferred() || f.consequence.is_visible());
    told.map(|finding| {
        assert_eq!(finding.standing, Standing::Confirmed, "{}: {finding:?}", program.name());
        let lines: BTreeSet<u32> =
            finding.sites.iter().filter_map(|&site| sites.source(code, site).0).map(|at| at.line).collect();
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        format!("{} {}: {}", kind(&finding.candidate), lines.join(" "), consequence(finding))
    })
    .collect()
}

#[test]
fn each_program_has_the_findings_that_it_says_and_no_others() {
    let all = programs("findings");
    assert!(all.len() >= 12, "{all:?}");
    for_each(&all, |program| {
        assert_eq!(found(program), expected(program), "{}", program.name());
    });
}
