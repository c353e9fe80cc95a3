//! The runs of a search as a picture: `--dot FILE`.

use crate::cli::ExploreArguments;
use crate::{load, output};
use report::{RunTree, Sources};
use std::path::Path;
use subject::Schedule;
use trace::{Outcome, ThreadId, Trace};

/// The runs, and where they are to be written.
pub struct Tree<'a> {
    path: &'a Path,
    sources: Sources<'a>,
    runs: RunTree,
}

impl<'a> Tree<'a> {
    /// A tree without runs, if one is asked for.
    pub fn wanted(arguments: &'a ExploreArguments, program: &'a ir::Program) -> Option<Tree<'a>> {
        let path = arguments.dot.as_deref()?;
        Some(Tree { path, sources: load::sources(program, false), runs: RunTree::default() })
    }

    /// Adds a run.
    pub fn add(&mut self, schedule: &Schedule, outcome: &Outcome, name: impl Fn(ThreadId) -> String) {
        self.runs.add(schedule, outcome, name, &self.sources);
    }

    /// Adds a run that was recorded.
    pub fn add_trace(&mut self, trace: &Trace) {
        self.add(&trace.schedule(), &trace.outcome, |thread| trace.thread_name(thread));
    }

    /// Writes the tree.
    pub fn write(self) -> anyhow::Result<()> {
        output::write_file(self.path, self.runs.dot().as_bytes())
    }
}

/// Writes all these runs, if a tree is asked for.
pub fn write(arguments: &ExploreArguments, program: &ir::Program, runs: &[Trace]) -> anyhow::Result<()> {
    let Some(mut tree) = Tree::wanted(arguments, program) else { return Ok(()) };
    runs.iter().for_each(|run| tree.add_trace(run));
    tree.write()
}
