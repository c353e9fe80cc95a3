//! Where the runs of a compiled program are made: in a process of their own, or by one that forks itself for each ([`Server`]).
//!
//! The first run is always one of a process of its own: most programs are run once or twice, and it shows whether the program does what
//! would get in the way of others. Several threads may ask for runs at once; each then has a server for itself.

use crate::launch::{self, Asked, Finished, LaunchError, Options, Server, Starts, Unserved};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use trace::{EventKind, Trace};

/// So many servers are kept while they have nothing to do.
const MOST_IDLE: usize = 4;

/// A program whose servers get lost more often than this is not run so.
const MOST_LOST: u32 = 3;

/// The servers of a program.
#[derive(Default)]
pub struct Servers(Mutex<State>);

#[derive(Default)]
struct State {
    idle: Vec<Server>,
    /// The program has been run.
    known: bool,
    lost: u32,
    unserved: Option<Unserved>,
}

impl Servers {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a run.
    pub fn run(&self, program: &Path, options: &Options, asked: Asked) -> Result<Finished, LaunchError> {
        if let Some(server) = self.server(program, options) {
            match server.run(options, asked.clone()) {
                Ok((finished, server)) => {
                    let mut state = self.state();
                    if state.unserved.is_none() {
                        state.idle.extend(server);
                    }
                    if state.idle.len() > MOST_IDLE {
                        state.idle.remove(0);
                    }
                    return Ok(finished);
                }
                // Whatever ended it, a process of its own shows what the run does.
                Err(lost) => self.lost(&lost.to_string()),
            }
        }
        launch::run(program, options, asked)
    }

    /// A server for a run, if it is to be made by one.
    fn server(&self, program: &Path, options: &Options) -> Option<Server> {
        let mut state = self.state();
        let first = !std::mem::replace(&mut state.known, true);
        if first || options.starts == Starts::Always || state.unserved.is_some() {
            return None;
        }
        if let Some(at) = state.idle.iter().position(|server| server.is_for(program, options)) {
            return Some(state.idle.remove(at));
        }
        drop(state);
        match Server::start(program, options) {
            Ok(server) => Some(server),
            Err(why) => {
                self.give_up(why);
                None
            }
        }
    }

    fn lost(&self, why: &str) {
        let mut state = self.state();
        state.lost += 1;
        if state.lost >= MOST_LOST {
            drop(state);
            self.give_up(Unserved::Failed(why.to_owned()));
        }
    }

    fn give_up(&self, why: Unserved) {
        let mut state = self.state();
        state.unserved.get_or_insert(why);
        state.idle.clear();
    }

    /// Takes note of what a run did that gets in the way of others.
    pub fn look_at(&self, trace: &Trace) {
        let starts = |kind: &EventKind| matches!(kind, EventKind::System { what } if ["fork", "spawn"].contains(&&**what));
        if trace.events.iter().any(|event| starts(&event.kind)) {
            self.give_up(Unserved::Processes);
        }
    }

    /// Why each run has a process of its own, if that is so.
    pub fn unserved(&self) -> Option<Unserved> {
        self.state().unserved.clone()
    }
}
