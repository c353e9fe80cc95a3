//! `threadbare export`: what is asked of a recorded run, for other tools.

use crate::cli::{ExportArguments, ExportCommand, ExportPddlArguments, ExportTraceArguments};
use crate::exit::Exit;
use crate::{foreign_trace, load, output, prediction};
use anyhow::Context as _;
use claim::{Candidate, Property};
use ctp::Ctp;
use foreign::Format;
use plan::pddl::Domain;
use plan::{Data, Goal, Meaning, Problem, Until};
use predict::{Filters, Wanted};
use report::Telling;
use trace::Trace;

/// Most candidates at the same instructions that are listed.
const PER_PLACE: usize = 16;

pub fn export(arguments: &ExportArguments) -> anyhow::Result<Exit> {
    match &arguments.command {
        ExportCommand::Pddl(arguments) => pddl(arguments),
        ExportCommand::Std(arguments) => trace(arguments, Format::Std),
        ExportCommand::RapidCsv(arguments) => trace(arguments, Format::RapidCsv),
        ExportCommand::Csv(arguments) => trace(arguments, Format::Csv),
    }
}

/// Writes a run as a trace for other tools.
fn trace(arguments: &ExportTraceArguments, format: Format) -> anyhow::Result<Exit> {
    let file = &arguments.file;
    let recording = match foreign_trace::recording(file, arguments.input_format)? {
        Some(recording) => recording,
        None => {
            let (program, trace) = load::recorded(file, arguments.program.as_deref(), &arguments.options)?;
            foreign::recording_of(&trace, &program).with_context(|| file.display().to_string())?
        }
    };
    let text = format.write(&recording);
    match &arguments.output {
        Some(path) => {
            output::check_distinct(&[file.as_path()], &[Some(path.as_path())])?;
            output::write_file(path, text.as_bytes())?;
        }
        None => output::print(&text)?,
    }
    Ok(Exit::Clean)
}

fn pddl(arguments: &ExportPddlArguments) -> anyhow::Result<Exit> {
    let (program, trace) = load::recorded(&arguments.file, arguments.program.as_deref(), &arguments.options)?;
    let options = ctp::Options { atomic: prediction::atomic(arguments.atomic), ..ctp::Options::default() };
    let ctp = Ctp::build(&program, &trace, &options).with_context(|| arguments.file.display().to_string())?;
    let candidates = candidates(&ctp);
    match arguments.candidate {
        Some(number) => {
            let candidate = usize::try_from(number - 1).ok().and_then(|n| candidates.get(n));
            let candidate = candidate
                .with_context(|| format!("there is no candidate {number}: there are {}", candidates.len()))?;
            write(arguments, &program, &trace, &ctp, candidate)?;
        }
        None => list(&program, &trace, &candidates)?,
    }
    Ok(Exit::Clean)
}

/// What can be asked for: orders of events that neither fork and join nor locks exclude.
fn candidates(ctp: &Ctp) -> Vec<Candidate> {
    let wanted = Wanted { properties: vec![Property::Atomicity, Property::Race], per_place: PER_PLACE };
    let filters = Filters::new(ctp);
    let mut all = predict::candidates(ctp, &wanted).all;
    // Two accesses that are both next are also ordered by nothing: the same problem.
    all.retain(|one| !matches!(one, Candidate::UnorderedRace { .. }) && filters.discards(one).is_none());
    all.extend(predict::circles(ctp, PER_PLACE));
    all
}

fn list(program: &ir::Program, trace: &Trace, candidates: &[Candidate]) -> anyhow::Result<()> {
    let sources = load::sources(program, false);
    let thread = |thread| trace.thread_name(thread);
    let telling = Telling::new(&sources, trace, None, &thread);
    let mut text = String::new();
    for (n, words) in report::candidates(candidates, &telling).into_iter().enumerate() {
        text.push_str(&format!("{:>4}  {words}\n", n + 1));
    }
    if candidates.is_empty() {
        text.push_str("no candidates\n");
    }
    output::print(&text)?;
    Ok(())
}

fn write(
    arguments: &ExportPddlArguments,
    program: &ir::Program,
    trace: &Trace,
    ctp: &Ctp,
    candidate: &Candidate,
) -> anyhow::Result<()> {
    let goal =
        Goal::of(candidate, Until::Between).context("the candidate is not about an order of events")?;
    let problem = Problem::new(ctp, &goal, Data::Writers);
    let name = arguments.file.file_stem().map_or_else(|| "trace".into(), |stem| stem.to_string_lossy());
    let called = |meaning: &Meaning| called(program, trace, ctp, meaning);
    let domain = Domain::new(&problem, &name, called).context("it cannot be written as PDDL")?;
    let Some(directory) = &arguments.output else {
        output::print(&domain.domain())?;
        output::print(&domain.problem())?;
        return Ok(());
    };
    std::fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    for (file, text) in [("domain.pddl", domain.domain()), ("problem.pddl", domain.problem())] {
        let path = directory.join(file);
        output::write_file(&path, text.as_bytes())?;
        output::print(&format!("wrote {}\n", path.display()))?;
    }
    Ok(())
}

/// What something is called in the source.
fn called(program: &ir::Program, trace: &Trace, ctp: &Ctp, meaning: &Meaning) -> String {
    let place = |location| trace.location_name(program, location);
    let thread = |thread| trace.thread_name(thread);
    match meaning {
        Meaning::Location(location) => place(ctp.location(*location).place),
        Meaning::Mutex(lock) | Meaning::RwLock(lock) | Meaning::Tokens(lock) => place(*lock),
        Meaning::Wait(waiter, condition) => format!("{}-waits-{}", thread(*waiter), place(*condition)),
        Meaning::Arrived(barrier) => format!("{}-arrived", place(*barrier)),
        Meaning::AtBarrier(who, barrier) => format!("{}-at-{}", thread(*who), place(*barrier)),
        Meaning::Freed(allocation) => format!("freed-{}", allocation.0),
        Meaning::Exclusive => "alone".to_owned(),
        Meaning::Happened(label, _) => format!("happened-{label}"),
        Meaning::Before(label) => format!("before-{label}"),
        Meaning::Formula => "formula".to_owned(),
    }
}
