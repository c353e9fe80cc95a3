//! Semaphores: each token that is taken is matched to an earlier release or to one that was there at the
//! start, which is exact by counting; a failed try and a reading of the count say how many there are at that
//! point (docs/design/feasibility.md, "Semaphores").

use crate::Encoding;
use claim::Because;
use ctp::{EventIndex, Kind};
use solver::{Bool, Giver, Point, Result, Taker};
use trace::{EventKind, Location};

impl Encoding<'_> {
    pub(crate) fn encode_semaphores(&mut self) -> Result<()> {
        let mut counts: Vec<(Location, EventIndex, u64)> = vec![];
        for at in (0..self.ctp.events.len()).map(EventIndex::new) {
            let Kind::Other(kind) = self.kind(at) else { continue };
            match *kind {
                EventKind::Acquire { semaphore } | EventKind::TryAcquire { semaphore, acquired: true } => {
                    let takes = self.inside(at);
                    self.sync.takes.entry(semaphore).or_default().push((at, takes));
                }
                EventKind::TryAcquire { semaphore, acquired: false } => {
                    let takes = self.departed(at)?;
                    self.sync.takes.entry(semaphore).or_default().push((at, takes));
                    counts.push((semaphore, at, 0));
                }
                EventKind::TokenCount { semaphore, value } => counts.push((semaphore, at, value)),
                EventKind::Release { semaphore } => {
                    self.sync.releases.entry(semaphore).or_default().push(at);
                }
                _ => {}
            }
        }
        let semaphores: Vec<Location> = self.sync.takes.keys().copied().collect();
        for semaphore in semaphores {
            let takes = self.sync.takes.get(&semaphore).cloned().unwrap_or_default();
            let mut takers = vec![];
            for &(at, when) in &takes {
                let switch = self.switch(Because::Semaphore(self.event(at).id));
                let when = self.solver.and(&[when, switch])?;
                takers.push(Taker { at: self.point(at)?, after: None, when });
            }
            let always = self.solver.bool_const(true);
            // More tokens than takers make no difference.
            let start =
                usize::try_from(self.tokens_at_start(semaphore)).unwrap_or(usize::MAX).min(takers.len());
            let mut givers = vec![Giver { at: None, many: false, when: always }; start];
            for release in self.sync.releases.get(&semaphore).cloned().unwrap_or_default() {
                let when = self.inside(release);
                givers.push(Giver { at: Some(self.point(release)?), many: false, when });
            }
            self.solver.matching(&takers, &givers)?;
        }
        for (semaphore, at, value) in counts {
            let seen = self.as_recorded(at)?;
            let not_seen = self.solver.not(seen)?;
            let point = self.point(at)?;
            let so_many = self.tokens_are(semaphore, point, Some(at), value)?;
            self.require(Because::Semaphore(self.event(at).id), &[not_seen, so_many])?;
        }
        Ok(())
    }

    fn tokens_at_start(&self, semaphore: Location) -> u64 {
        self.ctp.objects.get(&semaphore).map_or(0, |object| object.count)
    }

    /// There are so many tokens at a point; the event at the point itself does not count.
    fn tokens_are(
        &mut self,
        semaphore: Location,
        point: Point,
        own: Option<EventIndex>,
        value: u64,
    ) -> Result<Bool> {
        let releases = self.sync.releases.get(&semaphore).cloned().unwrap_or_default();
        let takes = self.sync.takes.get(&semaphore).cloned().unwrap_or_default();
        let mut terms = vec![];
        for release in releases {
            let at = self.point(release)?;
            terms.push(self.solver.before(at, point)?);
        }
        let mut count = 0_u64;
        for (take, takes) in takes.into_iter().filter(|&(take, _)| Some(take) != own) {
            let at = self.point(take)?;
            let before = self.solver.before(at, point)?;
            let taken = self.solver.and(&[before, takes])?;
            terms.push(self.solver.not(taken)?);
            count += 1;
        }
        // start + released - taken = value
        let wanted = (value + count).checked_sub(self.tokens_at_start(semaphore));
        match wanted.and_then(|wanted| usize::try_from(wanted).ok()) {
            Some(wanted) if wanted <= terms.len() => {
                let (least, most) =
                    (self.solver.at_least(wanted, &terms)?, self.solver.at_most(wanted, &terms)?);
                self.solver.and(&[least, most])
            }
            _ => Ok(self.solver.bool_const(false)),
        }
    }

    /// There are so many tokens when the prefix ends.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn tokens_at_cut(&mut self, semaphore: Location, value: u64) -> Result<Bool> {
        let cut = self.cut;
        self.tokens_are(semaphore, cut, None, value)
    }
}
