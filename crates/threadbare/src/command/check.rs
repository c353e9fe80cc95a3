//! `threadbare check`: decide a small program under a memory model.

use crate::cli::{AtomicityName, CheckArguments, CheckFormat, RacesOf};
use crate::exit::Exit;
use crate::load::{self, diagnostics};
use crate::output::{self, Rendered};
use anyhow::bail;
use check::atomicity::Kind;
use check::cat::Model;
use check::{Checker, Options, Verdict};
use ir::{CheckKind, Program};
use lang::ast::ItemKind;
use report::Checked;
use std::path::Path;

pub fn check(arguments: &CheckArguments) -> anyhow::Result<Exit> {
    let files = super::check_many::files(&arguments.files)?;
    if !arguments.compare.is_empty() {
        return super::check_many::compare(&files, arguments);
    }
    let model = model(&arguments.model)?;
    match (&arguments.files[..], &files[..]) {
        ([given], [file]) if given == file => one(file, arguments, model.as_ref()),
        _ => super::check_many::check(&files, arguments, model.as_ref()),
    }
}

/// The model by its name or its file; `None` is sequential consistency as MM App. A has it.
pub fn model(name: &str) -> anyhow::Result<Option<Model>> {
    if name == "sc" {
        return Ok(None);
    }
    if let Some(model) = Model::shipped(name) {
        return Ok(Some(model));
    }
    let path = Path::new(name);
    if path.extension().is_none_or(|extension| extension != "cat") {
        let known: Vec<&str> = check::cat::names().collect();
        bail!(
            "there is no model `{name}`: it is one of {}, or a file whose name ends in .cat",
            known.join(", ")
        );
    }
    let source = load::text(path)?;
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut include = |file: &str| std::fs::read_to_string(directory.join(file)).ok();
    match Model::parse(name, &source, &mut include) {
        Ok(model) => Ok(Some(model)),
        Err(error) => Err(diagnostics(&error.errors, &error.path, &error.source)),
    }
}

/// Reads a model program or a litmus test, perhaps with another question.
pub fn program(path: &Path, arguments: &CheckArguments) -> anyhow::Result<Program> {
    let name = path.display().to_string();
    let source = load::text(path)?;
    let wrong = |errors: Vec<lang::Diagnostic>| diagnostics(&errors, &name, &source);
    let loop_bound = arguments.loop_bound.unwrap_or(lang::MAX_BOUND);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("litmus") if arguments.exists.is_some() => bail!("{name}: --exists is for model programs"),
        Some("litmus") => check::litmus::program(&source, &name, loop_bound).map_err(wrong),
        Some("tb") => {
            let mut file = lang::parse(&source).map_err(wrong)?;
            if let Some(condition) = &arguments.exists {
                let question = format!("main {{}}\nexists ({condition})");
                let asked =
                    lang::parse(&question).map_err(|errors| diagnostics(&errors, "--exists", &question))?;
                let is_final = |item: &lang::ast::Item| matches!(item.kind, ItemKind::Final { .. });
                file.items.retain(|item| !is_final(item));
                file.items.extend(asked.items.into_iter().filter(is_final));
            }
            let checked = lang::check(&file).map_err(wrong)?;
            Ok(lang::lower(
                &checked,
                &lang::LowerOptions { loop_bound, name: name.clone(), path: name.clone() },
            ))
        }
        _ => bail!(
            "{name}: not a program that can be checked: model programs end in .tb, litmus tests in .litmus"
        ),
    }
}

/// An error of a check, shown where its cause stands.
pub fn shown(error: check::Error, program: &Program, path: &Path) -> anyhow::Error {
    let place = error.position().and_then(|at| {
        let file = program.files.get(at.file.index())?;
        let source = std::fs::read_to_string(&file.path).ok()?;
        let start = source.lines().take(at.line as usize - 1).map(|line| line.len() + 1).sum::<usize>();
        let start = (start + at.column as usize - 1).min(source.len()) as u32;
        let span = lang::Span { start, end: start + 1, line: at.line, column: at.column, end_line: at.line };
        let diagnostic = lang::Diagnostic::new(span, error.to_string());
        Some(lang::render(&diagnostic, &file.path, &source, output::error_color()))
    });
    match place {
        Some(text) => anyhow::Error::new(Rendered(text)),
        None => anyhow::Error::new(error).context(path.display().to_string()),
    }
}

/// How programs are unfolded.
pub fn options(arguments: &CheckArguments) -> Options {
    let rounds = arguments.loop_bound.unwrap_or(0).max(1000);
    Options { spurious: arguments.spurious, rounds, ..Options::default() }
}

/// Checks one program and tells all about it.
fn one(path: &Path, arguments: &CheckArguments, model: Option<&Model>) -> anyhow::Result<Exit> {
    let program = &program(path, arguments)?;
    let wrong = |error| shown(error, program, path);
    let mut checker = Checker::new(program, options(arguments));
    if let Some(model) = model {
        checker = checker.under(model);
    }
    let all_rules = checker.clone();
    for rule in &arguments.without {
        checker = checker.without(rule).map_err(wrong)?;
    }
    let outcomes = checker.outcomes(arguments.max_outcomes as usize).map_err(wrong)?;
    let condition = checker.condition().map_err(wrong)?;
    let explained = match (&condition, arguments.explain) {
        (Some(_), true) => explain(&all_rules, arguments).map_err(wrong)?,
        _ => vec![],
    };
    let failures = checker.failures().map_err(wrong)?;
    let races = match arguments.races {
        None => None,
        Some(RacesOf::Sc) => Some(checker.races().map_err(wrong)?),
        Some(RacesOf::Model) => Some(checker.races_of_model().map_err(wrong)?),
    };
    let violations = match arguments.atomicity {
        None => None,
        Some(kind) => {
            let (kind, word) = match kind {
                AtomicityName::Strong => (Kind::Strong, "strong"),
                AtomicityName::Window => (Kind::Window, "window"),
                AtomicityName::Serializable => (Kind::Serializable, "serializable"),
            };
            Some((word, checker.violations(kind).map_err(wrong)?))
        }
    };
    let flags = checker.flags().map_err(wrong)?;
    draw(arguments, condition.as_ref().map(|(_, verdict)| verdict))?;
    let file = path.display().to_string();
    let checked = Checked {
        file: &file,
        model: model.map_or("sc", |model| &model.name),
        without: &arguments.without,
        outcomes: &outcomes,
        condition: condition
            .as_ref()
            .zip(program.final_condition.as_ref())
            .map(|((holds, v), c)| (c, *holds, v)),
        explained: &explained,
        failures: &failures,
        flags: &flags,
        races: races.as_deref(),
        violations: violations.as_ref().map(|(word, violations)| (*word, &violations[..])),
    };
    let found = condition.as_ref().is_some_and(|(holds, _)| !holds)
        || failures.iter().any(|failure| failure.kind != Some(CheckKind::Bound))
        || !flags.is_empty()
        || races.as_ref().is_some_and(|races| !races.is_empty())
        || violations.as_ref().is_some_and(|(_, violations)| !violations.is_empty());
    let seen_nothing =
        outcomes.states.is_empty() && failures.iter().any(|f| f.kind == Some(CheckKind::Bound));
    let exit = match () {
        () if found => Exit::Findings,
        () if !outcomes.all || seen_nothing => Exit::Limit,
        () => Exit::Clean,
    };
    let text = match arguments.format {
        CheckFormat::Json => format!("{:#}\n", report::check_json(&checked)),
        CheckFormat::Text => report::check(&checked, &load::sources(program, output::color())),
    };
    output::print(&text)?;
    Ok(exit)
}

/// Writes the pictures that were asked for.
fn draw(arguments: &CheckArguments, verdict: Option<&Verdict>) -> anyhow::Result<()> {
    if arguments.dot.is_none() && arguments.svg.is_none() {
        return Ok(());
    }
    let execution = match verdict {
        Some(Verdict::Allowed(execution)) => execution,
        Some(Verdict::Forbidden(_)) => bail!("there is no execution to draw: the outcome is forbidden"),
        None => bail!("there is no execution to draw: the program asks nothing; --exists does"),
    };
    if let Some(path) = &arguments.dot {
        output::write_file(path, report::check_dot(execution).as_bytes())?;
    }
    if let Some(path) = &arguments.svg {
        output::write_file(path, report::check_svg(execution).as_bytes())?;
    }
    Ok(())
}

/// For each rule whether the outcome in question is allowed when only that rule, and what `--without` names, is off.
fn explain(all: &Checker<'_>, arguments: &CheckArguments) -> check::Result<Vec<(String, bool)>> {
    let mut explained = vec![];
    for rule in all.rules() {
        if arguments.without.contains(&rule) {
            continue;
        }
        let mut checker = all.clone();
        for off in arguments.without.iter().chain([&rule]) {
            checker = checker.without(off)?;
        }
        match checker.condition_verdict() {
            // Rules of order are part of time in programs of this size.
            Err(check::Error::TooLarge { .. }) => {}
            verdict => explained.extend(verdict?.map(|verdict| (rule, verdict))),
        }
    }
    Ok(explained)
}
