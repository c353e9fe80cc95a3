//! The runs that a search made, as a tree for Graphviz: runs that begin with the same steps share them.

use crate::Sources;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use subject::Schedule;
use trace::{Outcome, ThreadId};

/// Of more runs nobody looks at a picture.
const MOST_RUNS: u64 = 2_000;

/// The runs of a search.
#[derive(Debug)]
pub struct RunTree {
    /// The first one is where all runs begin.
    nodes: Vec<Node>,
    names: BTreeMap<ThreadId, String>,
    runs: u64,
}

/// A point at which runs part or end.
#[derive(Debug, Default)]
struct Node {
    edges: Vec<Edge>,
    /// How runs end here, and how many each.
    ends: BTreeMap<End, u64>,
}

/// A thread runs on its own.
#[derive(Debug)]
struct Edge {
    thread: ThreadId,
    /// Up to and with which of its events.
    until: u64,
    to: usize,
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum End {
    /// As it should, or where nobody knows how it goes on.
    Quiet(String),
    /// With something wrong.
    Wrong(String),
}

impl Default for RunTree {
    fn default() -> RunTree {
        RunTree { nodes: vec![Node::default()], names: BTreeMap::new(), runs: 0 }
    }
}

impl RunTree {
    /// Adds a run; `name` says what its threads are called.
    pub fn add(
        &mut self,
        schedule: &Schedule,
        outcome: &Outcome,
        name: impl Fn(ThreadId) -> String,
        sources: &Sources<'_>,
    ) {
        self.runs += 1;
        if self.runs > MOST_RUNS {
            return;
        }
        let mut at = 0;
        for segment in &schedule.segments {
            self.names.entry(segment.thread).or_insert_with(|| name(segment.thread));
            at = self.go(at, segment.thread, segment.until);
        }
        *self.nodes[at].ends.entry(end(outcome, sources)).or_default() += 1;
    }

    /// Where a thread's next events up to `until` lead.
    fn go(&mut self, mut at: usize, thread: ThreadId, until: u64) -> usize {
        loop {
            let Some(edge) = self.nodes[at].edges.iter().position(|edge| edge.thread == thread) else {
                return self.new_node(at, thread, until);
            };
            let Edge { until: known, to, .. } = self.nodes[at].edges[edge];
            if known == until {
                return to;
            }
            if known > until {
                // The runs part on the way.
                let middle = self.nodes.len();
                self.nodes[at].edges[edge] = Edge { thread, until, to: middle };
                let rest = vec![Edge { thread, until: known, to }];
                self.nodes.push(Node { edges: rest, ..Node::default() });
                return middle;
            }
            at = to;
        }
    }

    fn new_node(&mut self, at: usize, thread: ThreadId, until: u64) -> usize {
        let to = self.nodes.len();
        self.nodes[at].edges.push(Edge { thread, until, to });
        self.nodes.push(Node::default());
        to
    }

    /// The tree in the language of Graphviz.
    #[must_use]
    pub fn dot(&self) -> String {
        let mut text = String::from("digraph runs {\n  rankdir=LR;\n  node [shape=point];\n");
        // Writing to a string cannot fail.
        for (at, node) in self.nodes.iter().enumerate() {
            if !node.ends.is_empty() {
                let lines: Vec<String> = node.ends.iter().map(|(end, times)| line(end, *times)).collect();
                let is_wrong = node.ends.keys().any(|end| matches!(end, End::Wrong(_)));
                let color = if is_wrong { ", color=red, fontcolor=red" } else { "" };
                let label = lines.join("\n");
                let _ = writeln!(text, "  n{at} [shape=box, label={label:?}{color}];");
            }
            for edge in &node.edges {
                let name = self.names.get(&edge.thread).map_or_else(|| edge.thread.to_string(), Clone::clone);
                let label = format!("{name}:{}", edge.until);
                let _ = writeln!(text, "  n{at} -> n{} [label={label:?}];", edge.to);
            }
        }
        if self.runs > MOST_RUNS {
            let label = format!("and {} more runs", self.runs - MOST_RUNS);
            let _ = writeln!(text, "  more [shape=plaintext, label={label:?}];");
        }
        text.push_str("}\n");
        text
    }
}

fn line(end: &End, times: u64) -> String {
    let (End::Quiet(words) | End::Wrong(words)) = end;
    if times == 1 { words.clone() } else { format!("{words}, {times} times") }
}

fn end(outcome: &Outcome, sources: &Sources<'_>) -> End {
    let quiet = |words: &str| End::Quiet(words.to_owned());
    match outcome {
        Outcome::Completed { .. } => quiet("completed"),
        Outcome::Exited { status: 0 } => quiet("exited"),
        Outcome::Exited { status } => End::Wrong(format!("exited with status {status}")),
        Outcome::AssertionFailed { site, .. } => {
            End::Wrong(format!("assertion failed at {}", sources.place(*site)))
        }
        Outcome::Fault { site, kind, .. } => {
            End::Wrong(format!("{} at {}", kind.words(), sources.place(*site)))
        }
        Outcome::Deadlock { .. } => End::Wrong("deadlock".to_owned()),
        Outcome::Discarded { .. } => quiet("discarded by an assumption"),
        Outcome::BoundExceeded { site, .. } => {
            End::Quiet(format!("cut at the bound of the loop at {}", sources.place(*site)))
        }
        Outcome::LimitReached { .. } | Outcome::Truncated => quiet("cut"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use subject::Segment;

    fn tree(runs: &[&[(u64, u64)]]) -> RunTree {
        let program = ir::Program::default();
        let sources = Sources::new(&program, false, |_| None);
        let thread = |n| ThreadId::MAIN.child(n).unwrap();
        let mut tree = RunTree::default();
        for run in runs {
            let segment = |&(n, until): &(u64, u64)| Segment { thread: thread(n), until, site: None };
            let schedule = Schedule { segments: run.iter().map(segment).collect(), ..Schedule::default() };
            tree.add(&schedule, &Outcome::Deadlock { blocked: vec![] }, |id| id.to_string(), &sources);
        }
        tree
    }

    #[test]
    fn runs_share_their_beginnings() {
        // The second run leaves the first one in the middle of its first stretch, the third behind that.
        let tree = tree(&[&[(0, 5), (1, 2)], &[(0, 3), (1, 2), (0, 5)], &[(0, 6), (1, 2)]]);
        let leaves = tree.nodes.iter().filter(|node| !node.ends.is_empty()).count();
        assert_eq!(leaves, 3);
        assert_eq!(tree.nodes[0].edges.len(), 1, "all begin with the first thread");
        assert_eq!(tree.nodes.iter().map(|node| node.edges.len()).sum::<usize>(), tree.nodes.len() - 1);
    }

    #[test]
    fn the_same_schedule_ends_at_one_leaf() {
        let tree = tree(&[&[(0, 1)], &[(0, 1)]]);
        assert!(tree.dot().contains("label=\"deadlock, 2 times\", color=red"), "{}", tree.dot());
    }
}
