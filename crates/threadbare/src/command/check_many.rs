//! `threadbare check` of several files: in parallel, as a table; and of several models beside each other.

use super::check::{model, options, program, shown};
use crate::cli::{CheckArguments, CheckFormat};
use crate::exit::Exit;
use crate::output;
use anyhow::{Context as _, bail};
use check::cat::Model;
use check::{Checker, Outcome, Outcomes};
use ir::{CheckKind, Quantifier};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The files that are meant: of a directory all programs and litmus tests in it.
pub fn files(given: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = vec![];
    for path in given {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let entries = std::fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut inside: Vec<PathBuf> =
            entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
        inside.retain(|path| {
            path.extension().is_some_and(|extension| extension == "tb" || extension == "litmus")
        });
        inside.sort();
        if inside.is_empty() {
            bail!("{}: there are no .tb and no .litmus files in it", path.display());
        }
        files.extend(inside);
    }
    Ok(files)
}

/// Works on all files, on as many threads as there are processors; results come in the order of the files.
fn parallel<T: Send>(files: &[PathBuf], work: impl Fn(&Path) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(files.len());
    let mut done: Vec<(usize, T)> = std::thread::scope(|scope| {
        let worker = || {
            let mut done = vec![];
            while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)).map(|file| &**file) {
                let at = files.iter().position(|known| known.as_path() == file).unwrap_or(0);
                done.push((at, work(file)));
            }
            done
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// What is told of one file.
struct Row {
    question: String,
    verdict: String,
    outcomes: usize,
    exit: Exit,
}

/// Checks each file and prints a table. A file that cannot be checked does not stop the others.
pub fn check(files: &[PathBuf], arguments: &CheckArguments, model: Option<&Model>) -> anyhow::Result<Exit> {
    if arguments.races.is_some()
        || arguments.atomicity.is_some()
        || arguments.dot.is_some()
        || arguments.svg.is_some()
    {
        bail!("--races, --atomicity, --dot and --svg are for one file");
    }
    let results = parallel(files, |file| row(file, arguments, model));
    let mut rows = vec![["file", "verdict", "outcomes", "condition"].map(str::to_owned).to_vec()];
    let (mut documents, mut exit, mut errors) = (vec![], Exit::Clean, vec![]);
    for (file, result) in files.iter().zip(results) {
        let name = file.display().to_string();
        match result {
            Ok(row) => {
                documents.push(json!({
                    "file": name, "verdict": row.verdict, "outcomes": row.outcomes, "condition": row.question
                }));
                rows.push(vec![name, row.verdict, row.outcomes.to_string(), row.question]);
                exit = worse(exit, row.exit);
            }
            Err(error) => {
                documents.push(json!({ "file": name, "error": format!("{error:#}") }));
                rows.push(vec![name, "error".to_owned(), String::new(), String::new()]);
                errors.push(error);
            }
        }
    }
    tell(arguments, &rows, documents.into())?;
    errors.iter().for_each(output::error);
    Ok(if errors.is_empty() { exit } else { Exit::BadInput })
}

fn tell(arguments: &CheckArguments, rows: &[Vec<String>], document: serde_json::Value) -> anyhow::Result<()> {
    output::print(&match arguments.format {
        CheckFormat::Text => report::check_table(rows),
        CheckFormat::Json => format!("{document:#}\n"),
    })
}

/// Findings before limits before nothing.
fn worse(a: Exit, b: Exit) -> Exit {
    match (a, b) {
        (Exit::Findings, _) | (_, Exit::Findings) => Exit::Findings,
        (Exit::Limit, _) | (_, Exit::Limit) => Exit::Limit,
        (a, _) => a,
    }
}

fn row(file: &Path, arguments: &CheckArguments, model: Option<&Model>) -> anyhow::Result<Row> {
    let program = program(file, arguments)?;
    let wrong = |error| shown(error, &program, file);
    let mut checker = Checker::new(&program, options(arguments));
    if let Some(model) = model {
        checker = checker.under(model);
    }
    for rule in &arguments.without {
        checker = checker.without(rule).map_err(wrong)?;
    }
    let outcomes = checker.outcomes(arguments.max_outcomes as usize).map_err(wrong)?;
    let (word, holds) = verdict(&program, &outcomes);
    let (fails, bounded) = checks(&program, &checker).map_err(wrong)?;
    let exit = match () {
        () if holds == Some(false) || fails => Exit::Findings,
        () if !outcomes.all || bounded && outcomes.states.is_empty() => Exit::Limit,
        () => Exit::Clean,
    };
    let notes = [(fails, "an assertion can fail"), (bounded, "bounded")];
    let notes = notes.into_iter().filter(|(is, _)| *is).map(|(_, note)| note);
    let verdict =
        std::iter::once(word).filter(|word| !word.is_empty()).chain(notes).collect::<Vec<_>>().join(", ");
    let question = program.final_condition.as_ref().map_or(String::new(), |c| {
        let word = match c.quantifier {
            Quantifier::Exists => "exists",
            Quantifier::NotExists => "~exists",
            Quantifier::Forall => "forall",
        };
        format!("{word} ({})", c.text)
    });
    Ok(Row { question, verdict, outcomes: outcomes.states.len(), exit })
}

/// Whether an assertion can fail, and whether a loop can reach its bound; asked only of programs that have such.
fn checks(program: &ir::Program, checker: &Checker<'_>) -> check::Result<(bool, bool)> {
    let mut code =
        program.functions.iter().flat_map(|function| &function.blocks).flat_map(|b| &b.instructions);
    if !code.any(|i| matches!(i.op, ir::Op::Check { kind: CheckKind::Assert | CheckKind::Bound, .. })) {
        return Ok((false, false));
    }
    let failures = checker.failures()?;
    let has = |kind| failures.iter().any(|failure| failure.kind == Some(kind));
    Ok((has(CheckKind::Assert), has(CheckKind::Bound)))
}

/// The verdict on the condition, read off the outcomes, and whether the condition holds.
fn verdict(program: &ir::Program, outcomes: &Outcomes) -> (&'static str, Option<bool>) {
    let Some(condition) = &program.final_condition else { return ("", None) };
    let wanted = condition.quantifier != Quantifier::Forall;
    let seen = outcomes.states.iter().any(|state| state.condition == Some(wanted));
    let holds = seen == (condition.quantifier == Quantifier::Exists);
    match (seen, wanted) {
        (false, _) if !outcomes.all => ("unknown", None),
        (true, true) => ("allowed", Some(holds)),
        (false, true) => ("forbidden", Some(holds)),
        (true, false) => ("not always", Some(holds)),
        (false, false) => ("always", Some(holds)),
    }
}

/// Each file under each model: a table of verdicts, and an outcome that one model has and another has not.
pub fn compare(files: &[PathBuf], arguments: &CheckArguments) -> anyhow::Result<Exit> {
    let models: Vec<(String, Option<Model>)> = arguments
        .compare
        .iter()
        .map(|name| Ok((name.clone(), model(name)?)))
        .collect::<anyhow::Result<_>>()?;
    let results = parallel(files, |file| compared(file, arguments, &models));
    let head = std::iter::once("file".to_owned())
        .chain(arguments.compare.clone())
        .chain(["separated by".to_owned()]);
    let (mut rows, mut documents, mut errors) = (vec![head.collect::<Vec<_>>()], vec![], vec![]);
    for (file, result) in files.iter().zip(results) {
        let name = file.display().to_string();
        match result {
            Ok((verdicts, separating)) => {
                let by_model: serde_json::Map<_, _> =
                    arguments.compare.iter().cloned().zip(verdicts.iter().map(|v| json!(v))).collect();
                documents.push(json!({ "file": name, "verdicts": by_model, "separated": separating }));
                rows.push(
                    std::iter::once(name).chain(verdicts).chain([separating.unwrap_or_default()]).collect(),
                );
            }
            Err(error) => {
                documents.push(json!({ "file": name, "error": format!("{error:#}") }));
                rows.push(vec![name, "error".to_owned()]);
                errors.push(error);
            }
        }
    }
    tell(arguments, &rows, documents.into())?;
    errors.iter().for_each(output::error);
    Ok(if errors.is_empty() { Exit::Clean } else { Exit::BadInput })
}

/// The verdict of each model, and what separates the first two that differ.
fn compared(
    file: &Path,
    arguments: &CheckArguments,
    models: &[(String, Option<Model>)],
) -> anyhow::Result<(Vec<String>, Option<String>)> {
    let program = program(file, arguments)?;
    let mut all: Vec<(&str, Outcomes)> = vec![];
    for (name, model) in models {
        let mut checker = Checker::new(&program, options(arguments));
        if let Some(model) = model {
            checker = checker.under(model);
        }
        let outcomes =
            checker.outcomes(arguments.max_outcomes as usize).map_err(|e| shown(e, &program, file))?;
        all.push((name, outcomes));
    }
    let verdicts = all
        .iter()
        .map(|(_, outcomes)| match verdict(&program, outcomes) {
            ("", _) => format!("{} outcomes", outcomes.states.len()),
            (verdict, _) => verdict.to_owned(),
        })
        .collect();
    let mut separating = None;
    for (first, a) in &all {
        for (second, b) in all.iter().filter(|(_, b)| b.all) {
            let only: BTreeSet<&Outcome> = a.states.difference(&b.states).collect();
            // One that the question is about says more.
            let shown = only.iter().find(|o| o.condition == Some(true)).or(only.iter().next());
            if let (None, Some(outcome)) = (&separating, shown) {
                let values: Vec<String> = outcome.values.iter().map(|(n, v)| format!("{n} = {v}")).collect();
                separating = Some(format!("{first} has {}, {second} has not", values.join(", ")));
            }
        }
    }
    Ok((verdicts, separating))
}
