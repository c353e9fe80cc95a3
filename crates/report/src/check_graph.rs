//! Execution graphs in the language of graphviz: one cluster for each thread, and arrows for program order, reads-from, coherence and from-read.

use check::{Execution, Operation};
use std::fmt::Write as _;

/// The relations with their colours.
const COLORS: [(&str, &str); 3] = [("rf", "#1a7f37"), ("co", "#0969da"), ("fr", "#cf222e")];

pub(crate) fn name(operation: &Operation) -> String {
    let label = operation.label.as_deref().map_or(String::new(), |label| format!("{label}: "));
    format!("({}) {label}{}", operation.number, operation.what)
}

/// The operations of each column: default writes, then the threads.
fn columns(execution: &Execution) -> Vec<(String, Vec<&Operation>)> {
    let of = |thread: Option<usize>| {
        execution.operations.iter().filter(|o| o.thread == thread).collect::<Vec<_>>()
    };
    let threads = execution.threads.iter().enumerate().map(|(t, name)| (name.clone(), of(Some(t))));
    let all = std::iter::once(("initially".to_owned(), of(None))).chain(threads);
    all.filter(|(_, operations)| !operations.is_empty()).collect()
}

/// The graph in the language of graphviz.
#[must_use]
pub fn check_dot(execution: &Execution) -> String {
    let mut text = "digraph execution {\n  node [shape=box, fontname=monospace];\n".to_owned();
    for (at, (title, operations)) in columns(execution).iter().enumerate() {
        let _ = writeln!(text, "  subgraph cluster_{at} {{\n    label={title:?};");
        for operation in operations {
            let _ = writeln!(text, "    e{} [label={:?}];", operation.number, name(operation));
        }
        for pair in operations.windows(2).filter(|pair| pair[0].thread.is_some()) {
            let _ = writeln!(text, "    e{} -> e{} [label=po];", pair[0].number, pair[1].number);
        }
        text.push_str("  }\n");
    }
    for (relation, color) in COLORS {
        for (from, to) in execution.relations.get(relation).into_iter().flatten() {
            let _ = writeln!(
                text,
                "  e{from} -> e{to} [label={relation}, color={color:?}, fontcolor={color:?}, constraint=false];"
            );
        }
    }
    text.push_str("}\n");
    text
}
