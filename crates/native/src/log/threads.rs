//! The threads of a run and their names: `main`, `worker (bank.c:88) #2`.
//!
//! A thread is called after the function that it runs and the place of its fork. The number is that of the fork among all of
//! its parent, so that it is the same in every schedule. Under other parents than `main`, the parent's name comes first.

use crate::demangle::short_name;
use ir::{FunctionId, Program, SiteId, SiteIndex};
use rustc_hash::FxHashMap;
use trace::{EventId, ThreadId, ThreadInfo};

/// The threads of a run.
pub struct Threads<'p> {
    program: &'p Program,
    index: SiteIndex,
    /// What is at each address of a function.
    functions: FxHashMap<u64, FunctionId>,
    numbers: FxHashMap<ThreadId, usize>,
    known: Vec<Known>,
}

struct Known {
    info: ThreadInfo,
    function: Option<FunctionId>,
    fork: Option<SiteId>,
}

impl<'p> Threads<'p> {
    pub fn new(program: &'p Program) -> Threads<'p> {
        Threads {
            program,
            index: SiteIndex::new(program),
            functions: FxHashMap::default(),
            numbers: FxHashMap::default(),
            known: vec![],
        }
    }

    /// A function lies at this address.
    pub fn function_at(&mut self, address: u64, function: FunctionId) {
        self.functions.insert(address, function);
    }

    /// The number of a thread, which exists from now on if it did not before. Its parents then do too.
    pub fn number(&mut self, thread: ThreadId) -> usize {
        if let Some(&number) = self.numbers.get(&thread) {
            return number;
        }
        let number = self.known.len();
        let info = ThreadInfo { id: thread, name: thread.to_string(), forked_by: None };
        self.known.push(Known { info, function: None, fork: None });
        self.numbers.insert(thread, number);
        number
    }

    /// A thread starts at a function.
    pub fn starts(&mut self, thread: ThreadId, address: u64) {
        let number = self.number(thread);
        if let Some(&function) = self.functions.get(&address) {
            self.known[number].function = Some(function);
        }
    }

    /// The first function of ours that a thread enters, if it started somewhere else.
    pub fn enters(&mut self, number: usize, site: SiteId) {
        if self.known[number].function.is_none() {
            self.known[number].function = self.index.place(site).map(|place| place.function);
        }
    }

    /// A thread was forked by this event at this site.
    pub fn forked(&mut self, child: ThreadId, by: EventId, site: Option<SiteId>) {
        let number = self.number(child);
        self.known[number].info.forked_by = Some(by);
        self.known[number].fork = site;
    }

    /// The threads with their names.
    pub fn finish(mut self) -> Vec<ThreadInfo> {
        for number in 0..self.known.len() {
            // Parents come before their children, so their names are ready.
            self.known[number].info.name = self.name(&self.known[number]);
        }
        self.known.into_iter().map(|known| known.info).collect()
    }

    fn name(&self, known: &Known) -> String {
        let Some(&older) = known.info.id.path().last() else { return "main".to_owned() };
        let function = match known.function {
            Some(function) => short_name(&self.program.function(function).name),
            None => "thread".to_owned(),
        };
        let place = known.fork.and_then(|site| {
            let at = self.index.source(self.program, site).0?;
            let path = &self.program.files.get(at.file.index())?.path;
            Some(format!(" ({}:{})", path.rsplit('/').next().unwrap_or(path), at.line))
        });
        let own = format!("{function}{} #{}", place.unwrap_or_default(), older + 1);
        match known.info.forked_by.map(|by| by.thread) {
            Some(parent) if parent != ThreadId::MAIN => match self.numbers.get(&parent) {
                Some(&parent) => format!("{}/{own}", self.known[parent].info.name),
                None => own,
            },
            _ => own,
        }
    }
}
