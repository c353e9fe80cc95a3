//! The formula of AV §4.2 in the four parts of AV Fig. 5: path conditions, program order, variable
//! definitions, π-functions.

use super::event::action;
use super::is_shown;
use super::names::Names;
use crate::EventIndex;
use std::fmt::Write as _;

/// The formula, by parts.
pub fn formula(names: &Names<'_>) -> String {
    let mut text = String::from("Path conditions:\n\n");
    let label = |event: Option<EventIndex>| event.map_or("t0", |event| names.label(event)).to_owned();
    let shown = |index: &EventIndex| is_shown(&names.ctp.event(*index).kind);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  t0: g(t0) = true");
    let (mut order, mut definitions) = (String::new(), String::new());
    let _ = writeln!(definitions, "  {}", names.initial_assignments().join(" ∧ ").replace(":=", "="));
    for thread in &names.ctp.threads {
        let mut before: Option<EventIndex> = None;
        let first = thread.forked_by.and_then(|event| names.ctp.find(event));
        for index in thread.events.iter().copied().filter(shown) {
            let (guard, assignments) = action(names, index);
            let (own, previous) = (names.label(index), label(before.or(first)));
            let reached = if before.is_some() { format!("g({previous})") } else { "true".to_owned() };
            let condition = match &guard[..] {
                "true" => reached,
                _ if before.is_none() => format!("({guard})"),
                _ => format!("{reached} ∧ ({guard})"),
            };
            let _ = writeln!(text, "  {own}: g({own}) = {condition}");
            let _ = writeln!(order, "  HB({previous}, {own})");
            let equations: Vec<String> =
                assignments.iter().filter(|a| a.contains(":=")).map(|a| a.replacen(":=", "=", 1)).collect();
            if !equations.is_empty() {
                let _ = writeln!(definitions, "  {}", equations.join(" ∧ "));
            }
            before = Some(index);
        }
    }
    let _ =
        write!(text, "\nProgram order:\n\n{order}\nVariable definitions:\n\n{definitions}\nπ-functions:\n\n");
    for n in 0..names.ctp.reads.len() {
        let read = crate::ReadId::new(n);
        let of = names.ctp.read(read);
        let own = names.label(of.event);
        let sources = names.definitions(read);
        for (n, &source) in sources.iter().enumerate() {
            let from = label(source);
            let mut line = format!(
                "({} = {}) ∧ g({from}) ∧ HB({from}, {own})",
                names.pi(read),
                names.location(of.location, source)
            );
            for &other in sources.iter().filter(|&&other| other != source) {
                let other = label(other);
                let _ = write!(line, " ∧ (HB({other}, {from}) ∨ HB({own}, {other}))");
            }
            let _ = match n {
                0 => writeln!(text, "  {own}: {line}"),
                _ => writeln!(text, "  {} ∨ {line}", " ".repeat(own.chars().count())),
            };
        }
    }
    text
}
