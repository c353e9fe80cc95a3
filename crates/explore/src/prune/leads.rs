//! What the solver knows to be new is run at once, so that the points of the present run may have nothing left when they are asked about.

use super::ended::Ended;
use super::{Explored, Search};
use crate::Error;
use claim::Witness;
use std::collections::BTreeMap;
use subject::{Move, RunError, Steps};
use trace::{Outcome, ThreadId, Trace};

impl<S: Steps> Search<'_, S> {
    /// Runs what is new behind the first point from which more is to be run, until the solver knows no more; says whether to go on.
    pub(super) fn follow_leads(
        &mut self,
        present: &Ended,
        record: &mut dyn FnMut(&S) -> Result<Trace, RunError>,
        each: &mut dyn FnMut(Option<&Trace>, &Explored) -> bool,
    ) -> Result<bool, Error> {
        // A run that stops on its way has no abstraction though others like it may.
        let is_whole = matches!(present.trace.outcome, Outcome::Completed { .. } | Outcome::Exited { .. });
        if !is_whole || self.options.switches.is_some() {
            return Ok(true);
        }
        let Some(first) = self.frames.iter().position(|frame| !frame.left.is_empty()) else {
            return Ok(true);
        };
        let Some(own) = self.take_in(present)? else { return Ok(true) };
        while self.explored.runs < self.options.runs {
            let leads = self.known.leads(own, &self.made[..first])?;
            if leads.is_empty() {
                break;
            }
            for (n, lead) in leads.into_iter().enumerate() {
                // What the others have led to since may be the same.
                let lead = match n {
                    0 => Some(lead),
                    _ => self.known.leads_of(lead.0, &self.made[..first])?.pop(),
                };
                let witness = match lead {
                    None => continue,
                    Some((_, Some(witness))) if self.explored.runs < self.options.runs => witness,
                    Some(_) => return Ok(true),
                };
                let ended = Ended::new(self.program, self.run_along(&witness, record)?)?;
                let is_known = self.known.find(&ended.class).is_some();
                if !self.check(&ended, each) {
                    return Ok(false);
                }
                // What says nothing about others, or nothing new, does not bring us further.
                if is_known || !self.know(&ended)? {
                    return Ok(true);
                }
            }
        }
        Ok(true)
    }

    /// Runs the subject along a schedule and on to its end, and comes back to the end of the present run.
    fn run_along(
        &mut self,
        witness: &Witness,
        record: &mut dyn FnMut(&S) -> Result<Trace, RunError>,
    ) -> Result<Trace, Error> {
        let present: Vec<Move> =
            (self.frames.iter()).filter_map(|frame| frame.current.as_ref().map(|item| item.made)).collect();
        self.subject.back_to(0);
        self.subject.expect_about(witness.schedule());
        let mut done: BTreeMap<ThreadId, u64> = BTreeMap::new();
        let mut choices = witness.choices.iter().copied().peekable();
        let mut wanted = witness.order.iter().copied().peekable();
        let mut last = None;
        loop {
            while wanted.next_if(|id| done.get(&id.thread).is_some_and(|&n| n >= id.n)).is_some() {}
            let moves = self.subject.moves();
            let next = wanted.peek().map(|id| id.thread).or(last);
            let of_thread: Vec<Move> =
                moves.iter().copied().filter(|made| Some(made.thread) == next).collect();
            let made = match of_thread
                .iter()
                .find(|made| made.choice.is_some() && made.choice == choices.peek().copied())
            {
                Some(&made) => {
                    choices.next();
                    made
                }
                None => match of_thread.first().or(moves.first()) {
                    Some(&made) => made,
                    None => break,
                },
            };
            // What cannot be followed any further is run to its end all the same.
            if wanted.peek().is_some_and(|id| id.thread != made.thread) {
                wanted.by_ref().for_each(drop);
            }
            self.subject.make(made);
            self.explored.steps += 1;
            last = Some(made.thread);
            done.extend(self.subject.last().map(|event| (event.thread, event.n)));
        }
        self.explored.runs += 1;
        self.subject.complete();
        let trace = record(self.subject)?;
        self.subject.back_to(0);
        self.subject.expect(present.clone());
        for made in present {
            self.subject.make(made);
        }
        Ok(trace)
    }
}
