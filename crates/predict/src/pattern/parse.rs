//! Reading patterns. An item ends with its line or with `;`, so that a pattern fits on a command line too.

use super::goal::read_goal;
use super::{ACTIONS, EventText, PatternError, PatternText, Who};

/// Larger patterns are refused: the number of tuples grows with each event.
const MOST_EVENTS: usize = 8;

/// Reads patterns.
///
/// # Errors
/// If the text is not written as patterns are: with the line, and what is wrong with it.
pub fn parse(text: &str) -> Result<Vec<PatternText>, PatternError> {
    let mut patterns: Vec<PatternText> = vec![];
    let mut named = false;
    for (at, line) in text.lines().enumerate() {
        let failed = |message: String| PatternError::Syntax { line: at + 1, message };
        for item in items(line).map_err(failed)? {
            if item[0] == "pattern" && item.get(1).is_none_or(|word| word != ":") {
                let [_, name] = &item[..] else { return Err(failed("expected `pattern NAME`".to_owned())) };
                named = true;
                patterns.push(PatternText::new(name));
                continue;
            }
            if patterns.is_empty() {
                patterns.push(PatternText::new("pattern"));
            }
            let Some(pattern) = patterns.last_mut() else { continue };
            read_item(pattern, &item).map_err(failed)?;
        }
    }
    let last = text.lines().count().max(1);
    if let Some(empty) = patterns.iter().find(|pattern| pattern.events.is_empty()) {
        let name =
            if named { format!("`{}` has no events", empty.name) } else { "there are no events".to_owned() };
        return Err(PatternError::Syntax { line: last, message: name });
    }
    match patterns.is_empty() {
        true => Err(PatternError::Syntax { line: last, message: "there is no pattern here".to_owned() }),
        false => Ok(patterns),
    }
}

fn read_item(pattern: &mut PatternText, item: &[String]) -> Result<(), String> {
    if item[0] == "order" && item.get(1).is_none_or(|word| word != ":") {
        return read_order(pattern, &item[1..]);
    }
    if item[0] == "goal" && item.get(1).is_none_or(|word| word != ":") {
        return read_goal(pattern, &item[1..]);
    }
    let [name, colon, thread, action, rest @ ..] = item else {
        return Err(
            "expected `NAME: THREAD ACTION WHAT`, `order A < B`, `goal FORMULA` or `pattern NAME`".to_owned()
        );
    };
    if colon != ":" {
        return Err(format!("expected `:` behind `{name}`, found `{colon}`"));
    }
    if pattern.events.iter().any(|event| event.name == *name) {
        return Err(format!("there are two events `{name}`"));
    }
    if pattern.events.len() == MOST_EVENTS {
        return Err(format!("a pattern has at most {MOST_EVENTS} events"));
    }
    let Some(&(_, action)) = ACTIONS.iter().find(|(word, _)| word == action) else {
        let actions: Vec<&str> = ACTIONS.iter().map(|(word, _)| *word).collect();
        return Err(format!("`{action}` is no action; there are {}", actions.join(", ")));
    };
    let thread = match thread.strip_prefix('$') {
        Some(variable) if !variable.is_empty() => Who::Variable(variable.to_owned()),
        Some(_) => return Err("`$` needs a name behind it".to_owned()),
        None if thread == "any" => Who::Any,
        None => Who::Named(thread.clone()),
    };
    let (what, rest) = match rest {
        [what, rest @ ..] if what != "at" => (Some(what.clone()), rest),
        rest => (None, rest),
    };
    let line = match rest {
        [] => None,
        [at, line] if at == "at" => {
            Some(line.parse().map_err(|_| format!("`{line}` is no line of the source"))?)
        }
        [word, ..] => return Err(format!("expected `at LINE` or the end of the event, found `{word}`")),
    };
    pattern.events.push(EventText { name: name.clone(), thread, action, what, line });
    Ok(())
}

/// `a < b < c`, and several of them separated by commas.
fn read_order(pattern: &mut PatternText, words: &[String]) -> Result<(), String> {
    let mut order = vec![];
    for chain in words.split(|word| word == ",") {
        let mut names = vec![];
        for (at, word) in chain.iter().enumerate() {
            match (at % 2, word.as_str()) {
                (1, "<") => {}
                (1, _) => return Err(format!("expected `<`, found `{word}`")),
                _ => names.push(pattern.event(word)?),
            }
        }
        if names.len() < 2 || chain.len().is_multiple_of(2) {
            return Err("expected `order A < B`".to_owned());
        }
        order.extend(names.windows(2).map(|pair| (pair[0], pair[1])));
    }
    pattern.order.extend(order);
    Ok(())
}

/// The items of a line, each a list of words. `#` begins a comment where a word would begin.
fn items(line: &str) -> Result<Vec<Vec<String>>, String> {
    let mut items = vec![vec![]];
    let mut rest = line;
    while let Some(first) = rest.trim_start().chars().next() {
        rest = rest.trim_start();
        match first {
            '#' => break,
            ';' => items.push(vec![]),
            ':' | '<' | ',' => push(&mut items, first.to_string()),
            '"' => {
                let Some(length) = rest[1..].find('"') else { return Err("a `\"` is not closed".to_owned()) };
                push(&mut items, rest[1..=length].to_owned());
                rest = &rest[length + 2..];
                continue;
            }
            _ => {
                let ends = |c: char| c.is_whitespace() || [';', ':', '<', ',', '"'].contains(&c);
                let length = rest.find(ends).unwrap_or(rest.len());
                push(&mut items, rest[..length].to_owned());
                rest = &rest[length..];
                continue;
            }
        }
        rest = &rest[first.len_utf8()..];
    }
    items.retain(|item| !item.is_empty());
    Ok(items)
}

fn push(items: &mut [Vec<String>], word: String) {
    if let Some(item) = items.last_mut() {
        item.push(word);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Action;
    use super::*;

    #[test]
    fn a_pattern_on_one_line_is_that_on_several() {
        let short = parse("e1: T1 read x; f: T2 write x; e2: T1 write y at 7; order e1 < f < e2").unwrap();
        let long = "pattern pattern # a comment\n e1: T1 read x\n f: T2 write x\n e2: T1 write y at 7\n order e1 < f, f < e2";
        assert_eq!(parse(long).unwrap(), short);
        assert_eq!(short[0].order, [(0, 1), (1, 2)]);
        assert_eq!((short[0].events[2].line, short[0].events[1].action), (Some(7), Action::Write));
    }

    #[test]
    fn names_with_spaces_are_quoted() {
        let pattern = &parse("a: \"clerk #1\" read \"*p (allocated at list.c:41)\"").unwrap()[0];
        assert_eq!(pattern.events[0].thread, Who::Named("clerk #1".to_owned()));
        assert_eq!(pattern.events[0].what.as_deref(), Some("*p (allocated at list.c:41)"));
    }

    #[test]
    fn errors_name_the_line_and_what_is_expected() {
        let error = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(error(""), "line 1 of the pattern: there is no pattern here");
        assert!(error("a: T1 red x").contains("`red` is no action; there are read, write"));
        assert!(
            error("a: T1 read x\norder a < b").starts_with("line 2 of the pattern: there is no event `b`")
        );
        assert!(error("a: T1 read x; a: T2 read x").contains("two events `a`"));
        assert!(error("a: T1 read x; order a").contains("expected `order A < B`"));
        assert!(error("a T1 read x").contains("expected `:` behind `a`"));
        assert!(error("a: T1 read \"x").contains("not closed"));
        assert!(error("a: $ read x").contains("`$` needs a name"));
        assert!(error("a: T1 read x at y").contains("`y` is no line"));
        assert!(error("pattern p\npattern q\na: T1 read x").contains("`p` has no events"));
    }
}
