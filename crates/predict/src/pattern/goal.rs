//! Goals of patterns: linear temporal logic over finite runs, in words (PLAN §4.1).
//!
//! ```text
//! formula = both { "or" both } ;
//! both    = until { "and" until } ;
//! until   = one [ "until" until ] ;
//! one     = ( "not" | "eventually" | "always" | "never" ) one | "(" formula ")" | event [ "<" event … | "never" "before" event ] ;
//! ```

use super::PatternText;
use claim::Formula;
use std::collections::BTreeSet;

/// Deeper formulas are refused.
const MOST_DEEP: usize = 32;

/// Reads a goal, which is added to those before it.
pub(super) fn read_goal(pattern: &mut PatternText, words: &[String]) -> Result<(), String> {
    let words: Vec<&str> = words.iter().flat_map(|word| parts(word)).collect();
    let mut reader = Reader { pattern, words: &words, deep: 0 };
    let goal = reader.formula()?;
    if let Some(word) = reader.words.first() {
        return Err(format!("expected `and`, `or`, `until` or the end of the goal, found `{word}`"));
    }
    if at_begin(&goal).is_some() {
        return Err("this is about the begin of the run, when nothing has happened yet: say `eventually`, `always`, `never` or `until`".to_owned());
    }
    let before = pattern.goal.take();
    pattern.goal = Some(Formula::and(before.into_iter().chain([goal])));
    Ok(())
}

/// Whether a formula holds, if the state before the first step decides that.
fn at_begin(formula: &Formula<usize>) -> Option<bool> {
    // One that is so decides all of them, or they are all otherwise.
    let one_decides = |all: &BTreeSet<Formula<usize>>, so: bool| {
        let is = |wanted: bool| move |one: &Formula<usize>| at_begin(one) == Some(wanted);
        (all.iter().any(is(so)).then_some(so)).or(all.iter().all(is(!so)).then_some(!so))
    };
    match formula {
        Formula::Constant(value) => Some(*value),
        Formula::Happened(_) => Some(false),
        Formula::Not(one) => at_begin(one).map(|holds| !holds),
        Formula::And(all) => one_decides(all, false),
        Formula::Or(all) => one_decides(all, true),
        Formula::Eventually(_) | Formula::Always(_) | Formula::Until(..) => None,
    }
}

/// A word without the brackets around it, and these.
fn parts(word: &str) -> Vec<&str> {
    let mut parts = vec![];
    let mut rest = word;
    while let Some(at) = rest.find(['(', ')']) {
        parts.extend([&rest[..at], &rest[at..=at]]);
        rest = &rest[at + 1..];
    }
    parts.push(rest);
    parts.retain(|part| !part.is_empty());
    parts
}

struct Reader<'r> {
    pattern: &'r PatternText,
    words: &'r [&'r str],
    deep: usize,
}

impl Reader<'_> {
    /// Takes a word if it is this one.
    fn takes(&mut self, word: &str) -> bool {
        let is_it = self.words.first() == Some(&word);
        if is_it {
            self.words = &self.words[1..];
        }
        is_it
    }

    fn formula(&mut self) -> Result<Formula<usize>, String> {
        let mut all = vec![self.both()?];
        while self.takes("or") {
            all.push(self.both()?);
        }
        Ok(Formula::or(all))
    }

    fn both(&mut self) -> Result<Formula<usize>, String> {
        let mut all = vec![self.until()?];
        while self.takes("and") {
            all.push(self.until()?);
        }
        Ok(Formula::and(all))
    }

    fn until(&mut self) -> Result<Formula<usize>, String> {
        let one = self.one()?;
        Ok(if self.takes("until") { Formula::until(one, self.nested(Reader::until)?) } else { one })
    }

    /// Something inside something else, unless that is too deep.
    fn nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Formula<usize>, String>,
    ) -> Result<Formula<usize>, String> {
        self.deep += 1;
        if self.deep > MOST_DEEP {
            return Err(format!("a goal is at most {MOST_DEEP} deep"));
        }
        let inside = read(self)?;
        self.deep -= 1;
        Ok(inside)
    }

    fn one(&mut self) -> Result<Formula<usize>, String> {
        let Some((&word, rest)) = self.words.split_first() else {
            return Err("expected a formula at the end of the goal".to_owned());
        };
        self.words = rest;
        Ok(match word {
            "not" => !self.nested(Reader::one)?,
            "eventually" => Formula::eventually(self.nested(Reader::one)?),
            "always" => Formula::always(self.nested(Reader::one)?),
            "never" => Formula::always(!self.nested(Reader::one)?),
            "(" => {
                let inside = self.nested(Reader::formula)?;
                if !self.takes(")") {
                    return Err(format!("expected `)`, found {}", self.found()));
                }
                inside
            }
            word => self.event(word)?,
        })
    }

    /// An event, or what is said of it and another one.
    fn event(&mut self, name: &str) -> Result<Formula<usize>, String> {
        let first = self.pattern.event(name)?;
        if self.takes("never") {
            if !self.takes("before") {
                return Err(format!("expected `before` behind `never`, found {}", self.found()));
            }
            let second = self.name()?;
            return Ok(Formula::never_before(first, second));
        }
        let (mut last, mut ordered) = (first, vec![]);
        while self.takes("<") {
            let next = self.name()?;
            ordered.push(Formula::ordered(last, next));
            last = next;
        }
        Ok(if ordered.is_empty() { Formula::Happened(first) } else { Formula::and(ordered) })
    }

    fn name(&mut self) -> Result<usize, String> {
        let Some((name, rest)) = self.words.split_first() else {
            return Err("expected an event at the end of the goal".to_owned());
        };
        self.words = rest;
        self.pattern.event(name)
    }

    fn found(&self) -> String {
        self.words.first().map_or_else(|| "the end of the goal".to_owned(), |word| format!("`{word}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    const EVENTS: &str = "a: T1 read x; b: T2 write x; c: T1 write y; ";

    fn goal(text: &str) -> Formula<usize> {
        let patterns = parse(&format!("{EVENTS}{text}")).unwrap();
        patterns[0].goal.clone().unwrap()
    }

    fn holds(text: &str, run: &[usize]) -> bool {
        goal(text).holds(run)
    }

    #[test]
    fn words_mean_what_they_say() {
        assert!(holds("goal a < b < c", &[0, 1, 2]) && !holds("goal a < b < c", &[0, 2, 1]));
        assert!(holds("goal never c", &[0, 1]) && !holds("goal never c", &[0, 2]));
        assert!(holds("goal b never before a", &[0, 1]) && !holds("goal b never before a", &[1, 0]));
        assert!(holds("goal not c until b", &[1, 2]) && !holds("goal not c until b", &[2, 1]));
        assert!(
            holds("goal eventually (a and not b)", &[0, 1])
                && !holds("goal eventually (a and not b)", &[1, 0])
        );
        assert!(holds("goal a < b or never a", &[1]) && !holds("goal a < b or never a", &[1, 0]));
    }

    #[test]
    fn and_binds_more_than_or_and_less_than_until() {
        assert_eq!(goal("goal a < b or b < c and never c"), goal("goal a < b or (b < c and never c)"));
        assert_eq!(goal("goal not b until a and never c"), goal("goal (not b until a) and never c"));
        assert_eq!(goal("goal a < b; goal never c"), goal("goal a < b and never c"));
    }

    #[test]
    fn an_event_of_which_only_the_goal_speaks_need_not_happen() {
        let pattern = &parse(&format!("{EVENTS}order a < b; goal never c")).unwrap()[0];
        assert_eq!((pattern.order.clone(), pattern.goal.clone()), (vec![(0, 1)], Some(goal("goal never c"))));
    }

    #[test]
    fn errors_say_what_is_expected() {
        let error = |text: &str| parse(&format!("{EVENTS}{text}")).unwrap_err().to_string();
        assert!(error("goal never d").contains("there is no event `d` above"));
        assert!(error("goal a").contains("nothing has happened yet: say `eventually`"));
        assert!(error("goal never c and (a or b)").contains("nothing has happened yet"));
        assert!(error("goal never (a or b").contains("expected `)`, found the end of the goal"));
        assert!(error("goal a <").contains("expected an event at the end"));
        assert!(error("goal a never b").contains("expected `before` behind `never`, found `b`"));
        assert!(
            error("goal never a b")
                .contains("expected `and`, `or`, `until` or the end of the goal, found `b`")
        );
        assert!(error("goal").contains("expected a formula"));
        assert!(error(&format!("goal {}a", "not ".repeat(40))).contains("at most 32 deep"));
    }
}
