//! Barriers: rounds are formed by arrival position; a leave needs all arrivals of its round
//! (docs/design/feasibility.md, "Barriers").

use crate::Encoding;
use claim::Because;
use ctp::{EventIndex, Kind};
use solver::{Bool, Point, Result};
use trace::{EventKind, Location};

impl Encoding<'_> {
    pub(crate) fn encode_barriers(&mut self) -> Result<()> {
        for at in (0..self.ctp.events.len()).map(EventIndex::new) {
            if let Kind::Other(EventKind::BarrierArrive { barrier, .. }) = self.kind(at) {
                self.sync.arrivals.entry(*barrier).or_default().push(at);
            }
        }
        let barriers: Vec<Location> = self.sync.arrivals.keys().copied().collect();
        for barrier in barriers {
            let arrivals = self.sync.arrivals.get(&barrier).cloned().unwrap_or_default();
            for &arrival in &arrivals {
                let Some(leave) = self.following(arrival) else { continue };
                let Kind::Other(EventKind::BarrierLeave { .. }) = self.kind(leave) else { continue };
                let point = self.point(leave)?;
                let inside = self.inside(leave);
                let outside = self.solver.not(inside)?;
                for clause in self.round_is_complete(barrier, arrival, point)? {
                    let mut clause = clause.to_vec();
                    clause.push(outside);
                    self.require(Because::Barrier(self.event(leave).id), &clause)?;
                }
            }
        }
        Ok(())
    }

    fn parties(&self, barrier: Location) -> usize {
        let count = self.ctp.objects.get(&barrier).map_or(1, |object| object.count);
        usize::try_from(count).unwrap_or(usize::MAX).max(1)
    }

    /// At least so many have arrived before a point, `own` left out.
    fn arrived(
        &mut self,
        barrier: Location,
        point: Point,
        own: Option<EventIndex>,
        count: usize,
    ) -> Result<Bool> {
        let arrivals = self.sync.arrivals.get(&barrier).cloned().unwrap_or_default();
        let mut terms = vec![];
        for arrival in arrivals.into_iter().filter(|&arrival| Some(arrival) != own) {
            let at = self.point(arrival)?;
            terms.push(self.solver.before(at, point)?);
        }
        self.solver.at_least(count, &terms)
    }

    /// The round of an arrival is complete before a point: a list of clauses. Whoever is in round r or later is in a later one, or
    /// (r + 1) rounds have arrived.
    fn round_is_complete(
        &mut self,
        barrier: Location,
        arrival: EventIndex,
        point: Point,
    ) -> Result<Vec<[Bool; 3]>> {
        let (parties, at) = (self.parties(barrier), self.point(arrival)?);
        let arrivals = self.sync.arrivals.get(&barrier).map_or(0, Vec::len);
        let mut clauses = vec![];
        for round in 0..arrivals.div_ceil(parties) {
            let in_it = self.arrived(barrier, at, Some(arrival), round.saturating_mul(parties))?;
            let before = self.solver.not(in_it)?;
            let end = (round + 1).saturating_mul(parties);
            let later = self.arrived(barrier, at, Some(arrival), end)?;
            let complete = self.arrived(barrier, point, None, end)?;
            clauses.push([before, later, complete]);
        }
        Ok(clauses)
    }

    /// Two arrivals are in one round.
    pub(crate) fn in_one_round(&mut self, barrier: Location, a: EventIndex, b: EventIndex) -> Result<Bool> {
        if a == b {
            return Ok(self.solver.bool_const(true));
        }
        let parties = self.parties(barrier);
        let arrivals = self.sync.arrivals.get(&barrier).map_or(0, Vec::len);
        let (at_a, at_b) = (self.point(a)?, self.point(b)?);
        let mut any = vec![];
        for round in 0..arrivals.div_ceil(parties) {
            let mut all = vec![];
            for (own, at) in [(a, at_a), (b, at_b)] {
                all.push(self.arrived(barrier, at, Some(own), round.saturating_mul(parties))?);
                let later = self.arrived(barrier, at, Some(own), (round + 1).saturating_mul(parties))?;
                all.push(self.solver.not(later)?);
            }
            any.push(self.solver.and(&all)?);
        }
        self.solver.or(&any)
    }

    /// The round of an arrival is not complete when the prefix ends.
    pub(crate) fn round_is_open_at_cut(&mut self, barrier: Location, arrival: EventIndex) -> Result<Bool> {
        let cut = self.cut;
        let mut complete = vec![];
        for clause in self.round_is_complete(barrier, arrival, cut)? {
            complete.push(self.solver.or(&clause)?);
        }
        let complete = self.solver.and(&complete)?;
        self.solver.not(complete)
    }
}
