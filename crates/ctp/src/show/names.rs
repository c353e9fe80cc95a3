//! Names: labels of events, variables, and in CSSA form their versions.

use crate::{Ctp, Event, EventIndex, ExprId, Kind, LocationId, ReadId};
use ir::{Program, SiteIndex};
use rustc_hash::FxHashMap;
use trace::Trace;

/// What everything is called.
pub struct Names<'n> {
    pub ctp: &'n Ctp,
    pub program: &'n Program,
    pub trace: &'n Trace,
    /// Variables have versions.
    pub cssa: bool,
    labels: Vec<String>,
    locations: Vec<String>,
    /// The number of the version that an event defines by writing a location.
    written: FxHashMap<(EventIndex, LocationId), u32>,
    /// The local that an event defines by reading, if its value is one.
    locals: FxHashMap<EventIndex, String>,
    /// The event that first reads a value.
    values: FxHashMap<ExprId, EventIndex>,
    /// Numbers of π-functions.
    pi: Vec<u32>,
}

impl<'n> Names<'n> {
    pub fn new(ctp: &'n Ctp, program: &'n Program, trace: &'n Trace, cssa: bool) -> Names<'n> {
        let mut names = Names {
            ctp,
            program,
            trace,
            cssa,
            labels: vec![],
            locations: ctp.locations.iter().map(|l| trace.location_name(program, l.place)).collect(),
            written: FxHashMap::default(),
            locals: FxHashMap::default(),
            values: FxHashMap::default(),
            pi: vec![0; ctp.reads.len()],
        };
        let sites = SiteIndex::new(program);
        let mut seen: FxHashMap<String, u32> = FxHashMap::default();
        let mut versions: FxHashMap<String, u32> = FxHashMap::default();
        let (mut unnamed, mut pi) = (0, 0);
        for (n, event) in ctp.events.iter().enumerate() {
            let index = EventIndex::new(n);
            let label = match sites.source(program, event.site).1 {
                Some(label) => label.to_owned(),
                None => format!("e{}", n + 1),
            };
            // An instruction that runs again, or makes two events, gets marks.
            let times = seen.entry(label.clone()).or_default();
            names.labels.push(label + &"'".repeat(*times as usize));
            *times += 1;
            let Some(access) = event.kind.access() else { continue };
            for target in &access.targets {
                for &read in &target.reads {
                    pi += 1;
                    names.pi[read.index()] = pi;
                }
            }
            let local = access.targets.iter().flat_map(|t| &t.reads).next();
            if let Some(&read) = local {
                let name = match &ctp.read(read).local {
                    Some(name) => name.to_string(),
                    None => {
                        unnamed += 1;
                        format!("r{unnamed}")
                    }
                };
                let version = versions.entry(format!("{}.{name}", event.thread.0)).or_default();
                *version += 1;
                let name =
                    if cssa && ctp.read(read).local.is_some() { format!("{name}{version}") } else { name };
                names.locals.insert(index, name);
                if let Some(old) = access.old.filter(|&old| ctp.expressions.is_symbolic(old)) {
                    names.values.entry(old).or_insert(index);
                }
            }
            for target in &access.targets {
                for write in &target.writes {
                    let version =
                        versions.entry(names.locations[write.location.index()].clone()).or_default();
                    *version += 1;
                    names.written.insert((index, write.location), *version);
                }
            }
        }
        names
    }

    pub fn label(&self, event: EventIndex) -> &str {
        &self.labels[event.index()]
    }

    /// A location, in CSSA form as the version that an event defines, or the initial one.
    pub fn location(&self, location: LocationId, by: Option<EventIndex>) -> String {
        let name = &self.locations[location.index()];
        match (self.cssa, by.and_then(|by| self.written.get(&(by, location)))) {
            (false, _) => name.clone(),
            (true, Some(version)) => format!("{name}{version}"),
            (true, None) => format!("{name}0"),
        }
    }

    /// The local that an event defines by reading.
    pub fn local(&self, event: EventIndex) -> Option<&str> {
        self.locals.get(&event).map(String::as_str)
    }

    /// The local that holds a value for an event that comes later than the one that read it.
    pub fn held(&self, value: ExprId, by: EventIndex) -> Option<&str> {
        let event = *self.values.get(&value)?;
        if event < by { self.local(event) } else { None }
    }

    /// A read that is in no local as a whole: the variable itself, in CSSA form its π-function.
    pub fn read(&self, read: ReadId) -> String {
        match self.cssa {
            true => self.pi(read),
            false => self.location(self.ctp.read(read).location, None),
        }
    }

    /// The name of a read's π-function.
    pub fn pi(&self, read: ReadId) -> String {
        format!("π{}", self.pi[read.index()])
    }

    /// The definitions that a read may see (AV Def. 3): the last one in its own thread or the initial one, and all of other
    /// threads.
    pub fn definitions(&self, read: ReadId) -> Vec<Option<EventIndex>> {
        let of = self.ctp.read(read);
        let thread = self.ctp.event(of.event).thread;
        let (mut own, mut others) = (None, vec![]);
        for (n, event) in self.ctp.events.iter().enumerate() {
            let index = EventIndex::new(n);
            if !writes(event, of.location) {
                continue;
            }
            match event.thread == thread {
                true if index < of.event => own = Some(index),
                true => {}
                false => others.push(Some(index)),
            }
        }
        [own].into_iter().chain(others).collect()
    }

    /// `where π1 ← π(x0, x2)` for the reads of an event, in CSSA form.
    pub fn choices(&self, event: EventIndex) -> String {
        let Some(access) = self.ctp.event(event).kind.access().filter(|_| self.cssa) else {
            return String::new();
        };
        let pis: Vec<String> = (access.targets.iter().flat_map(|target| &target.reads))
            .map(|&read| {
                let location = self.ctp.read(read).location;
                let from: Vec<String> =
                    self.definitions(read).into_iter().map(|by| self.location(location, by)).collect();
                format!("{} ← π({})", self.pi(read), from.join(", "))
            })
            .collect();
        if pis.is_empty() { String::new() } else { format!("  where {}", pis.join(", ")) }
    }

    /// `x0 := 0` for each location whose initial value is known.
    pub fn initial_assignments(&self) -> Vec<String> {
        let locations = (0..self.ctp.locations.len()).map(LocationId::new);
        locations
            .filter_map(|location| {
                let initial = self.ctp.location(location).initial?;
                Some(format!(
                    "{} := {}",
                    self.location(location, None),
                    self.expression(initial, EventIndex(0))
                ))
            })
            .collect()
    }
}

/// Whether an event may write a location.
pub fn writes(event: &Event, location: LocationId) -> bool {
    let access = match &event.kind {
        Kind::Write(access) | Kind::Update(access) | Kind::CompareExchange { access, .. } => access,
        _ => return false,
    };
    access.targets.iter().flat_map(|target| &target.writes).any(|write| write.location == location)
}
