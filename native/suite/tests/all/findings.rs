//! Small programs with what is expected of each beside it: the classic bugs that others miss or report in vain.
//!
//! A program in `programs/` or `programs/findings/` says in its first comment what is found from one run of it, each as
//! `// finds: KIND LINES: CONSEQUENCE`. None may be missing, none may be there besides, each must be confirmed by the replay. Those whose
//! comment has no such line are right, and nothing is found in them.

use claim::{Candidate, Consequence, Finding, Standing};
use ir::SiteIndex;
use native::Compiled;
use predict::{Normal, Options, predict_and_confirm};
use std::collections::BTreeSet;
use std::time::Duration;
use subject::{Strategy, Subject as _};
use suite::{Build, Program, build, for_each, open, programs, short_run};
use trace::{Logging, Trace};

fn kind(candidate: &Candidate) -> &'static str {
    match candidate {
        Candidate::Atomicity { .. } => "atomicity",
        Candidate::CoEnabledRace { .. } | Candidate::UnorderedRace { .. } => "race",
        Candidate::Assertion { .. } => "assertion",
        Candidate::Fault { .. } => "crash",
        Candidate::Deadlock(_) => "deadlock",
        Candidate::Wakeup { .. } => "wakeup",
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

/// A question that takes the solver longer is given up.
const MOST_CONFLICTS: u32 = 20_000;

/// All questions about a program in which nothing is expected get so many seconds. What is asked in that time depends on the machine;
/// whether the test passes does not, because nothing may be found in any time. `THREADBARE_QUESTION_SECONDS` sets another number.
const MOST_SECONDS: u64 = 4;

fn most_time() -> Duration {
    let seconds = std::env::var("THREADBARE_QUESTION_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(seconds.unwrap_or(MOST_SECONDS))
}

/// Longer runs are predicted from only if no strategy gives a shorter one.
const SHORT: usize = 4_000;

fn recorded(compiled: &Compiled, program: &Program) -> Trace {
    let whatever =
        || compiled.record(&Strategy::RunToBlock, &Logging::Everything).expect("it runs").run.trace;
    short_run(compiled, program, SHORT).unwrap_or_else(whatever)
}

/// What a program's comment expects.
fn expected(program: &Program) -> BTreeSet<String> {
    let source = std::fs::read_to_string(&program.path).expect("a source");
    source.lines().filter_map(|line| line.strip_prefix("// finds: ")).map(str::to_owned).collect()
}

/// What is found, as the comments have it. What was inferred and nobody would notice is no finding.
fn found(program: &Program) -> BTreeSet<String> {
    let built = build(program, &Build::at("-O1"));
    let compiled = open(&built.path);
    let trace = recorded(&compiled, program);
    let normal = Normal::of(&compiled, &trace, 4, None).expect("it runs");
    let mut options = Options::default();
    options.engine.limits.conflicts = Some(MOST_CONFLICTS);
    // Only right programs take so long: in them nothing may be found up to then. What is expected has the time that it needs.
    options.engine.total_time = expected(program).is_empty().then(most_time);
    let prediction =
        predict_and_confirm(&compiled, &trace, &options, &normal, &mut |_| {}).expect("a prediction");
    let code = compiled.program();
    let sites = SiteIndex::new(code);
    let told = prediction.findings.iter().filter(|f| !f.is_inferred() || f.consequence.is_visible());
    told.map(|finding| {
        assert_eq!(finding.standing, Standing::Confirmed, "{}: {finding:?}", program.name());
        // What lies in a header of the system is at another line in each version of it.
        let is_own = |at: &ir::Position| code.files[at.file.index()].path.ends_with(&program.name());
        let places = finding.sites.iter().filter_map(|&site| sites.source(code, site).0).filter(is_own);
        let lines: BTreeSet<u32> = places.map(|at| at.line).collect();
        let words: Vec<String> = lines.iter().map(|line| format!(" {line}")).collect();
        format!("{}{}: {}", kind(&finding.candidate), words.concat(), consequence(finding))
    })
    .collect()
}

#[test]
fn each_program_has_the_findings_that_it_says_and_no_others() {
    let mut all = programs("findings");
    assert!(all.len() >= 12, "{all:?}");
    all.extend(programs(""));
    for_each(&all, |program| {
        assert_eq!(found(program), expected(program), "{}", program.name());
    });
}
