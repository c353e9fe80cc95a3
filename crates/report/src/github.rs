//! Findings as annotations of a GitHub workflow: lines that its runner reads off a log, and shows at the lines of the source.

use crate::Sources;
use crate::finding::Description;
use crate::prediction::{Report, coverage};

/// The report as workflow commands, and below them what was looked at, for whoever reads the log.
#[must_use]
pub fn github(report: &Report, sources: &Sources<'_>) -> String {
    let mut lines: Vec<String> = report.findings.iter().map(|finding| annotation(finding, sources)).collect();
    lines.extend(coverage(report));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn annotation(finding: &Description, sources: &Sources<'_>) -> String {
    let level = if finding.unconfirmed.is_none() { "error" } else { "warning" };
    let primary = finding.places.iter().find(|place| place.primary).or(finding.places.first());
    let at = primary.and_then(|place| sources.file_and_position(place.site));
    let mut properties: Vec<String> = vec![];
    if let Some((file, at)) = at {
        properties.push(format!("file={}", property(file)));
        properties.push(format!("line={},col={}", at.line, at.column));
    }
    properties.push(format!("title={}", property(finding.kind.words().0)));
    let mut message = vec![finding.title.clone()];
    let others = finding.places.iter().filter(|place| Some(*place) != primary);
    message.extend(others.map(|place| format!("{}: {}", place.at, place.label)));
    message.extend(finding.why.iter().cloned());
    message.extend(finding.consequence.iter().map(|consequence| format!("consequence: {consequence}")));
    message.extend(finding.unconfirmed.iter().map(|why| format!("not confirmed: {why}")));
    message.extend(finding.command.iter().map(|command| format!("to see it: {command}")));
    format!("::{level} {}::{}", properties.join(","), data(&message.join("\n")))
}

/// What stands behind the `::` of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// What stands behind the `=` of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_ends_a_command_or_a_property() {
        assert_eq!(data("100 %\r\n::error::x"), "100 %25%0D%0A::error::x");
        assert_eq!(property("a,line=1::b\n"), "a%2Cline=1%3A%3Ab%0A");
    }
}
