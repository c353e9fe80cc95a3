//! Memory (AV §4.1 and Φ_PI): each read takes the value of the last write before it. Also: memory that is given back.

use crate::Encoding;
use crate::encoding::Pin;
use claim::Because;
use ctp::{EventIndex, Kind, ReadId};
use rustc_hash::FxHashMap;
use solver::{Bool, Bv, Point, Read, Result, Source, Write};

/// What is known of one location while it is being put together.
#[derive(Default)]
struct Cell {
    writes: Vec<Write>,
    writers: FxHashMap<EventIndex, usize>,
    reads: Vec<Read>,
    /// What no event reads, but somebody wants to know: it must not keep a prefix from being feasible.
    looks: Vec<Read>,
}

impl Encoding<'_> {
    /// A variable for the value of each read.
    pub(crate) fn make_values(&mut self) -> Result<()> {
        for read in &self.ctp.reads {
            let value = self.solver.bv_var(read.width.bits())?;
            self.terms.reads.push(value);
        }
        Ok(())
    }

    /// All locations, with their writes in recorded order. Without values there is nothing to say.
    pub(crate) fn encode_memory(&mut self) -> Result<()> {
        if !self.has_values() {
            return self.encode_freed();
        }
        let ctp = self.ctp;
        let mut cells: Vec<Cell> = vec![];
        cells.resize_with(ctp.locations.len(), Cell::default);
        for at in (0..ctp.events.len()).map(EventIndex::new) {
            let Some(access) = self.kind(at).access() else { continue };
            let point = self.point(at)?;
            for write in access.targets.iter().flat_map(|target| &target.writes) {
                let value = self.term(write.value)?;
                let when = self.when(write.when)?;
                let cell = &mut cells[write.location.index()];
                // An event that reaches one location through two targets writes it once.
                if let Some(&n) = cell.writers.get(&at) {
                    let known = cell.writes[n];
                    let value = self.solver.bv_ite(when, value, known.value)?;
                    let when = self.solver.or(&[when, known.when])?;
                    cell.writes[n] = Write { at: point, value, when };
                } else {
                    cell.writers.insert(at, cell.writes.len());
                    cell.writes.push(Write { at: point, value, when });
                }
                let wanted = self.options.contents_before.contains(&at);
                if wanted && !self.contents_before.get(&at).is_some_and(|c| c.contains_key(&write.location)) {
                    let value = self.solver.bv_var(ctp.location(write.location).width().bits())?;
                    let when = self.inside(at);
                    cells[write.location.index()].looks.push(Read { at: point, value, when, likely: None });
                    self.contents_before.entry(at).or_default().insert(write.location, value);
                }
            }
        }
        for (n, read) in ctp.reads.iter().enumerate() {
            let inside = self.inside(read.event);
            let when = self.when(read.when)?;
            let when = self.solver.and(&[inside, when])?;
            let cell = &mut cells[read.location.index()];
            let likely = match read.source {
                Some(event) => cell.writers.get(&event).map(|&n| Source::Write(n)),
                None => Some(Source::Initial),
            };
            let value = self.terms.reads[ReadId::new(n).index()];
            cell.reads.push(Read { at: self.point(read.event)?, value, when, likely });
        }
        let always = self.solver.bool_const(true);
        for (n, mut cell) in cells.into_iter().enumerate() {
            let location = ctp::LocationId::new(n);
            if self.options.contents_at_cut.contains(&location) {
                let value = self.solver.bv_var(ctp.location(location).width().bits())?;
                cell.looks.push(Read { at: self.cut, value, when: always, likely: None });
                self.contents_at_cut.insert(location, value);
            }
            match ctp.location(location).initial {
                Some(initial) => {
                    let initial = self.term(initial)?;
                    cell.reads.append(&mut cell.looks);
                    self.solver.location(Some(initial), &cell.writes, &cell.reads)?;
                }
                None => self.encode_unknown(location, cell)?,
            }
        }
        self.encode_freed()
    }

    /// A location of which nobody knows what it holds at first. That no event reads it before it is written is an assumption, as if
    /// a value were pinned.
    fn encode_unknown(&mut self, location: ctp::LocationId, mut cell: Cell) -> Result<()> {
        let unknown = self.solver.bv_var(self.ctp.location(location).width().bits())?;
        if !cell.looks.is_empty() {
            self.solver.location(Some(unknown), &cell.writes, &cell.looks)?;
        }
        if let Some(first) = self.may_come_first(location, &cell) {
            let at = self.beginning()?;
            let switch = self.solver.bool_var();
            let when = self.solver.not(switch)?;
            cell.writes.push(Write { at, value: unknown, when });
            let broken = self.solver.bool_const(false);
            self.pins.push(Pin { switch, event: self.event(first).id, broken, reaches_far: false });
        }
        self.solver.location(None, &cell.writes, &cell.reads)?;
        Ok(())
    }

    /// The first read of a location in recorded order that no write is before in every schedule.
    fn may_come_first(&self, location: ctp::LocationId, cell: &Cell) -> Option<EventIndex> {
        let certain = |at: EventIndex| {
            let access = self.kind(at).access();
            let mut writes =
                access.iter().flat_map(|access| &access.targets).flat_map(|target| &target.writes);
            writes.any(|write| write.location == location && write.when.is_none())
        };
        let certain: Vec<EventIndex> = cell.writers.keys().copied().filter(|&at| certain(at)).collect();
        let reads = self.ctp.reads.iter().filter(|read| read.location == location).map(|read| read.event);
        reads.filter(|&read| !certain.iter().any(|&write| self.is_behind(read, write))).min()
    }

    /// Whether an event comes after another one by program order and forks alone.
    fn is_behind(&self, event: EventIndex, earlier: EventIndex) -> bool {
        let mut last = event;
        loop {
            if self.event(last).thread == self.event(earlier).thread {
                return earlier < last;
            }
            let fork =
                self.ctp.thread(self.event(last).thread).forked_by.and_then(|fork| self.ctp.find(fork));
            match fork {
                Some(fork) => last = fork,
                None => return false,
            }
        }
    }

    /// A point before all events.
    fn beginning(&mut self) -> Result<Point> {
        if let Some(beginning) = self.beginning {
            return Ok(beginning);
        }
        let beginning = self.solver.point()?;
        for thread in &self.ctp.threads {
            if let Some(first) = thread.events.iter().find_map(|at| self.points[at.index()]) {
                self.solver.fix_before(beginning, first)?;
            }
        }
        self.solver.fix_before(beginning, self.cut)?;
        self.beginning = Some(beginning);
        Ok(beginning)
    }

    fn when(&mut self, when: Option<ctp::ExprId>) -> Result<Bool> {
        match when {
            Some(when) => self.condition(when),
            None => Ok(self.solver.bool_const(true)),
        }
    }

    /// An access is before its memory is given back: behind that it would be a fault.
    fn encode_freed(&mut self) -> Result<()> {
        let ctp = self.ctp;
        if ctp.freed.is_empty() {
            return Ok(());
        }
        for at in (0..ctp.events.len()).map(EventIndex::new) {
            let Some(access) = self.kind(at).access() else { continue };
            for target in &access.targets {
                let Some(freed) = ctp.freed.get(&target.place.allocation) else { continue };
                // Without values only what is certain is said.
                if !self.has_values() && target.when.is_some() {
                    continue;
                }
                let hit = self.when(target.when)?;
                let inside = self.inside(at);
                for &free in freed {
                    let switch = self.switch(Because::Value(ctp.event(free).id));
                    let condition = self.solver.and(&[inside, hit, switch])?;
                    let (access, free) = (self.point(at)?, self.point(free)?);
                    self.solver.before_if(condition, access, free)?;
                }
            }
        }
        Ok(())
    }

    /// What the memory of an access held before it: what it read, or for a write that was asked for in
    /// [`Options::contents_before`](crate::Options::contents_before) what it overwrote.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn content_before(&mut self, event: EventIndex) -> Result<Option<Bv>> {
        let kind = self.kind(event);
        let Some(access) = kind.access() else { return Ok(None) };
        match kind {
            Kind::Write(_) => {}
            _ => return access.old.map(|old| self.term(old)).transpose(),
        }
        let Some(known) = self.contents_before.get(&event).cloned() else { return Ok(None) };
        let mut content: Option<Bv> = None;
        for target in &access.targets {
            let mut whole: Option<Bv> = None;
            for write in &target.writes {
                let Some(&part) = known.get(&write.location) else { return Ok(None) };
                whole = Some(match whole {
                    Some(below) => self.solver.bv_concat(part, below)?,
                    None => part,
                });
            }
            let Some(whole) = whole.filter(|whole| u64::from(whole.width()) == 8 * access.bytes) else {
                return Ok(None);
            };
            content = Some(match (content, target.when) {
                (Some(other), Some(when)) => {
                    let when = self.condition(when)?;
                    self.solver.bv_ite(when, whole, other)?
                }
                _ => whole,
            });
        }
        Ok(content)
    }
}
