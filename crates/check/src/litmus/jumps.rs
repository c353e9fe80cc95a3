//! Jumps as structured statements.
//!
//! The model language has no jumps, so a thread with jumps becomes a pass over its blocks in the order of the text: `next` says which block is to
//! run, each block runs if it is that one and says which is next. A jump forward costs nothing; one backward needs another pass, so passes stand
//! in a loop, whose bound is that of all loops. What decides only about `next` stands nowhere in the test and is not shown in executions.

use super::{Line, Outcome};
use lang::{Diagnostic, Span};
use std::collections::{BTreeMap, BTreeSet};

/// An instruction: what it does, and where it goes on.
#[derive(Default)]
pub struct Instruction {
    /// Names of this place.
    pub labels: Vec<(String, Span)>,
    /// Statements of the model language.
    pub text: Vec<String>,
    pub jump: Option<Jump>,
    pub span: Span,
}

/// A jump: under which condition, and to which label.
pub struct Jump {
    pub condition: Option<&'static str>,
    pub to: String,
}

/// The lines of a thread.
pub fn lines(instructions: &[Instruction]) -> Outcome<Vec<Line>> {
    let mut targets: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, instruction) in instructions.iter().enumerate() {
        for (label, span) in &instruction.labels {
            if targets.insert(label, at).is_some() {
                let message = format!("the label `{label}` stands twice in this thread");
                return Err(Box::new(Diagnostic::new(*span, message)));
            }
        }
    }
    let mut starts = BTreeSet::from([0]);
    let mut back: Option<Span> = None;
    for (at, instruction) in instructions.iter().enumerate() {
        let Some(jump) = &instruction.jump else { continue };
        let Some(&target) = targets.get(&*jump.to) else {
            let message = format!("there is no label `{}` in this thread", jump.to);
            return Err(Box::new(Diagnostic::new(instruction.span, message)));
        };
        starts.extend([target, at + 1]);
        if target <= at {
            back = back.or(Some(instruction.span));
        }
    }
    if starts.len() == 1 {
        return Ok(instructions.iter().flat_map(statements).collect());
    }
    starts.remove(&instructions.len());
    let starts: Vec<usize> = starts.into_iter().collect();
    let number = |at: usize| starts.partition_point(|&start| start < at);
    let nowhere = |text: String| (text, Span::default());
    let mut lines = vec![nowhere("int next = 0;".to_owned())];
    if let Some(span) = back {
        lines.extend([("while (1)".to_owned(), span), nowhere("{".to_owned())]);
    }
    for (block, &start) in starts.iter().enumerate() {
        let end = starts.get(block + 1).copied().unwrap_or(instructions.len());
        lines.extend([nowhere(format!("if (next == {block})")), nowhere("{".to_owned())]);
        lines.push(nowhere(format!("next = {};", block + 1)));
        for instruction in &instructions[start..end] {
            lines.extend(statements(instruction));
            if let Some(jump) = &instruction.jump {
                lines.extend(jump.condition.map(|condition| (format!("if ({condition})"), instruction.span)));
                lines.push(nowhere(format!("next = {};", number(targets[&*jump.to]))));
            }
        }
        lines.push(nowhere("}".to_owned()));
    }
    if back.is_some() {
        lines.extend([nowhere(format!("if (next == {}) break;", starts.len())), nowhere("}".to_owned())]);
    }
    Ok(lines)
}

fn statements(instruction: &Instruction) -> impl Iterator<Item = Line> + '_ {
    instruction.text.iter().map(|text| (text.clone(), instruction.span))
}
