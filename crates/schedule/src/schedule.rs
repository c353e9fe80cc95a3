//! Schedules: the choices of one run, as data and as a text file that people can read and edit.

use crate::{ThreadId, ThreadIdError};
use ir::SiteId;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write as _};
use std::str::FromStr;

/// One thread runs until its `until`-th event is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Segment {
    /// Who.
    pub thread: ThreadId,
    /// Up to and with which of its events, counted from 1.
    pub until: u64,
    /// The instruction of that event, if it is to be checked.
    pub site: Option<SiteId>,
}

/// A choice of the schedule other than that of a thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Choice {
    /// A signal with several waiters wakes this one.
    Wake(ThreadId),
    /// A timed wait that was not signalled expires.
    Expire,
    /// A wait that was not signalled ends all the same.
    Spurious,
}

/// The choices of one run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Schedule {
    /// The program it belongs to, if known.
    pub fingerprint: Option<u64>,
    /// Whether waits may end without a reason: a run with spurious wake-ups needs a machine that has them.
    pub spurious: bool,
    /// Who runs, in order.
    pub segments: Vec<Segment>,
    /// The choices other than threads, in order.
    pub choices: Vec<Choice>,
}

impl Schedule {
    /// The text form, with the threads' names as comments.
    #[must_use]
    pub fn to_text(&self, name: impl Fn(ThreadId) -> Option<String>) -> String {
        let mut text = String::from("threadbare schedule 1\n");
        if let Some(fingerprint) = self.fingerprint {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "program {fingerprint:016x}");
        }
        if self.spurious {
            text.push_str("spurious\n");
        }
        let comment = |thread| match name(thread) {
            Some(name) if name != thread.to_string() => format!("  # {name}"),
            _ => String::new(),
        };
        for segment in &self.segments {
            let _ = write!(text, "run {} until {}", segment.thread, segment.until);
            if let Some(site) = segment.site {
                let _ = write!(text, " at {}", site.0);
            }
            text.push_str(&comment(segment.thread));
            text.push('\n');
        }
        for choice in &self.choices {
            match choice {
                Choice::Wake(thread) => {
                    let _ = writeln!(text, "choose wake {thread}{}", comment(*thread));
                }
                Choice::Expire => text.push_str("choose expire\n"),
                Choice::Spurious => text.push_str("choose spurious\n"),
            }
        }
        text
    }
}

impl Schedule {
    /// The short form that fits on a command line: `P0:1 P1:2 wake:P0`, each thread up to its event, and behind all of
    /// them the other choices.
    #[must_use]
    pub fn to_short(&self, name: impl Fn(ThreadId) -> String) -> String {
        let segments =
            self.segments.iter().map(|segment| format!("{}:{}", name(segment.thread), segment.until));
        let choices = self.choices.iter().map(|choice| match choice {
            Choice::Wake(thread) => format!("wake:{}", name(*thread)),
            Choice::Expire => "expire".to_owned(),
            Choice::Spurious => "spurious".to_owned(),
        });
        segments.chain(choices).collect::<Vec<_>>().join(" ")
    }

    /// Reads the short form; `resolve` gives the thread of a name.
    ///
    /// # Errors
    /// If a word is neither `THREAD:N` nor a choice, or names no thread.
    pub fn from_short(
        text: &str,
        resolve: impl Fn(&str) -> Option<ThreadId>,
    ) -> Result<Schedule, ShortScheduleError> {
        let mut schedule = Schedule::default();
        for word in text.split_whitespace() {
            let unknown = |name: &str| ShortScheduleError::UnknownThread(name.to_owned());
            match (word, word.rsplit_once(':')) {
                ("expire", _) => schedule.choices.push(Choice::Expire),
                ("spurious", _) => {
                    schedule.spurious = true;
                    schedule.choices.push(Choice::Spurious);
                }
                (_, Some(("wake", name))) => {
                    let thread = resolve(name).ok_or_else(|| unknown(name))?;
                    schedule.choices.push(Choice::Wake(thread));
                }
                (_, Some((name, number))) => {
                    let until = parse_count(number).map_err(ShortScheduleError::Word)?;
                    let thread = resolve(name).ok_or_else(|| unknown(name))?;
                    schedule.segments.push(Segment { thread, until, site: None });
                }
                (_, None) => {
                    return Err(ShortScheduleError::Word(format!(
                        "expected `THREAD:N`, `wake:THREAD`, `expire` or `spurious`, found `{word}`"
                    )));
                }
            }
        }
        Ok(schedule)
    }
}

/// Why a text is no short schedule.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ShortScheduleError {
    /// A word that has no meaning.
    #[error("{0}")]
    Word(String),
    /// A name that no thread has.
    #[error("there is no thread `{0}`")]
    UnknownThread(String),
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text(|_| None))
    }
}

/// Why a text is no schedule.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ScheduleError {
    /// Which line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Schedule, ScheduleError> {
        let mut lines = text
            .lines()
            .enumerate()
            .map(|(at, line)| (at + 1, line.split('#').next().unwrap_or_default().trim()))
            .filter(|(_, line)| !line.is_empty());
        match lines.next() {
            Some((_, "threadbare schedule 1")) => {}
            Some((line, other)) if other.starts_with("threadbare schedule ") => {
                let message =
                    format!("this is `{other}`; this version of threadbare reads schedules of version 1");
                return Err(ScheduleError { line, message });
            }
            other => {
                let message =
                    "this is not a schedule; the first line must be `threadbare schedule 1`".to_owned();
                return Err(ScheduleError { line: other.map_or(1, |(line, _)| line), message });
            }
        }
        let mut schedule = Schedule::default();
        for (line, content) in lines {
            schedule.read_line(content).map_err(|message| ScheduleError { line, message })?;
        }
        Ok(schedule)
    }
}

impl Schedule {
    fn read_line(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["program", fingerprint] => {
                let number = u64::from_str_radix(fingerprint, 16);
                self.fingerprint = Some(number.map_err(|_| format!("`{fingerprint}` is no fingerprint"))?);
            }
            ["spurious"] => self.spurious = true,
            ["run", thread, "until", n] => {
                self.segments.push(Segment {
                    thread: parse_thread(thread)?,
                    until: parse_count(n)?,
                    site: None,
                });
            }
            ["run", thread, "until", n, "at", site] => {
                let site = site.parse().map_err(|_| format!("`{site}` is no number of an instruction"))?;
                let (thread, until) = (parse_thread(thread)?, parse_count(n)?);
                self.segments.push(Segment { thread, until, site: Some(SiteId(site)) });
            }
            ["choose", "wake", thread] => self.choices.push(Choice::Wake(parse_thread(thread)?)),
            ["choose", "expire"] => self.choices.push(Choice::Expire),
            ["choose", "spurious"] => self.choices.push(Choice::Spurious),
            _ => {
                return Err(format!(
                    "expected `run THREAD until N [at SITE]`, `choose wake THREAD`, `choose expire` or \
                     `choose spurious`, found `{line}`"
                ));
            }
        }
        Ok(())
    }
}

fn parse_count(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(format!("`{text}` is no number of an event; events count from 1")),
    }
}

fn parse_thread(text: &str) -> Result<ThreadId, String> {
    text.parse().map_err(|error: ThreadIdError| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn thread() -> impl Strategy<Value = ThreadId> {
        prop::collection::vec(0u64..5, 0..4)
            .prop_map(|path| path.into_iter().try_fold(ThreadId::MAIN, ThreadId::child).unwrap())
    }

    proptest! {
        #[test]
        fn text_gives_the_schedule_back(
            fingerprint in any::<Option<u64>>(),
            spurious in any::<bool>(),
            segments in prop::collection::vec((thread(), 1u64.., any::<Option<u32>>()), 0..8),
            choices in prop::collection::vec(prop_oneof![
                thread().prop_map(Choice::Wake), Just(Choice::Expire), Just(Choice::Spurious)], 0..5),
        ) {
            let segments = segments.into_iter()
                .map(|(thread, until, site)| Segment { thread, until, site: site.map(SiteId) }).collect();
            let schedule = Schedule { fingerprint, spurious, segments, choices };
            let text = schedule.to_text(|_| Some("a name # with a mark".into()));
            prop_assert_eq!(text.parse::<Schedule>(), Ok(schedule));
        }

        #[test]
        fn any_text_is_read_without_panic(text in "(threadbare schedule 1\n)?(.|\n){0,80}") {
            let _ = text.parse::<Schedule>();
        }
    }

    #[test]
    fn the_short_form_gives_segments_and_choices_back() {
        let [a, b] = [0, 1].map(|n| ThreadId::MAIN.child(n).unwrap());
        let name = |thread| if thread == a { "A".to_owned() } else { "f#1".to_owned() };
        let resolve =
            |name: &str| [("A", a), ("f#1", b)].into_iter().find(|&(n, _)| n == name).map(|(_, t)| t);
        let segment = |thread, until| Segment { thread, until, site: None };
        let schedule = Schedule {
            fingerprint: None,
            spurious: true,
            segments: vec![segment(a, 2), segment(b, 7), segment(a, 3)],
            choices: vec![Choice::Wake(b), Choice::Expire, Choice::Spurious],
        };
        let short = schedule.to_short(name);
        assert_eq!(short, "A:2 f#1:7 A:3 wake:f#1 expire spurious");
        assert_eq!(Schedule::from_short(&short, resolve), Ok(schedule));
        let error = |text| Schedule::from_short(text, resolve).unwrap_err().to_string();
        assert_eq!(error("C:1"), "there is no thread `C`");
        assert!(error("A:0").contains("count from 1"));
        assert!(error("A").contains("expected `THREAD:N`"));
    }

    #[test]
    fn errors_name_the_line_and_what_is_expected() {
        let error = |text: &str| text.parse::<Schedule>().unwrap_err().to_string();
        assert_eq!(
            error(""),
            "line 1: this is not a schedule; the first line must be `threadbare schedule 1`"
        );
        assert!(error("threadbare schedule 9\n").contains("version 1"));
        assert!(error("threadbare schedule 1\n\nrun T1 until 4\n").starts_with("line 3: `T1` is no thread"));
        assert!(error("threadbare schedule 1\nrun main until 0\n").contains("count from 1"));
        assert!(error("threadbare schedule 1\nwalk\n").contains("expected `run THREAD until N"));
    }
}
