//! Memory on expressions: what is shared gives reads and writes, what is not is forwarded from stores to loads.

use super::{Aim, Walk};
use crate::space::Space;
use crate::{
    Access, CtpError, EventIndex, ExprId, Kind, Otherwise, PinReason, Read, ReadId, Target, Write,
    bytes_width,
};
use ir::Width;
use trace::{EventKind, FaultKind, Location};

/// Copies and fills of memory that the trace says nothing of are followed for so many bytes.
const MOST_HIDDEN: u64 = 1 << 16;

/// An access whose address depends on shared reads: its targets are asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// The number of its event in the trace.
    pub at: usize,
    pub address: ExprId,
    pub bytes: u64,
    pub recorded: u64,
    pub write: bool,
}

/// Where an access goes.
pub struct Aimed {
    pub address: ExprId,
    /// Address, place, and the bit that says that this one is hit.
    pub targets: Vec<(u64, Location, Option<ExprId>)>,
    pub hits: Option<ExprId>,
    pub faults: Vec<(FaultKind, ExprId)>,
}

/// The bytes that an access reads, or writes if it only writes.
pub fn content(kind: &EventKind) -> Vec<u8> {
    let number = |value: u64, bytes: u8| value.to_le_bytes()[..usize::from(bytes.min(8))].to_vec();
    match kind {
        EventKind::Read { value, bytes, .. } | EventKind::Write { value, bytes, .. } => {
            number(*value, *bytes)
        }
        EventKind::Update { old, bytes, .. } | EventKind::CompareExchange { old, bytes, .. } => {
            number(*old, *bytes)
        }
        EventKind::ReadBytes { content, .. } | EventKind::WriteBytes { content, .. } => content.to_vec(),
        _ => vec![],
    }
}

/// The integer that some bytes are.
pub fn number(content: &[u8], from: usize, bytes: u32) -> u128 {
    let part = content.iter().skip(from).take(bytes as usize);
    part.rev().fold(0, |value, &byte| value << 8 | u128::from(byte))
}

impl Walk<'_> {
    /// Where an access of an event goes: `pointer` is its address as an expression, `place` where it was recorded. Emits
    /// what must stand before it.
    pub(super) fn aim(
        &mut self,
        t: usize,
        at: usize,
        event: &trace::Event,
        pointer: ExprId,
        (place, bytes): (Location, u64),
        write: bool,
    ) -> Result<Aimed, CtpError> {
        let recorded = self.address_of(event.id, place)?;
        let fixed = self.expressions.int(Width::W64, u128::from(recorded));
        let mut aimed =
            Aimed { address: fixed, targets: vec![(recorded, place, None)], hits: None, faults: vec![] };
        self.compare(event, pointer, u128::from(recorded));
        if !self.expressions.is_symbolic(pointer) {
            return Ok(aimed);
        }
        if self.expressions.recorded(pointer) != Some(u128::from(recorded)) {
            self.pin(t, event.id, event.site, &[pointer], PinReason::Mismatch);
            return Ok(aimed);
        }
        self.requests.push(Request { at, address: pointer, bytes, recorded, write });
        match self.aims.get(&at) {
            Some(Aim::At(addresses)) => {
                let addresses = addresses.clone();
                aimed.targets.clear();
                let mut hits = self.expressions.bit(false);
                for address in addresses {
                    // Memory that was used again has several places at one address.
                    let there =
                        if address == recorded { Some(place) } else { self.space.place(address, bytes) };
                    let Some(there) = there else { continue };
                    let constant = self.expressions.int(Width::W64, u128::from(address));
                    let when = self.expressions.equal(pointer, constant);
                    hits = self.expressions.or(hits, when);
                    aimed.targets.push((address, there, Some(when)));
                }
                aimed.faults = self.faults(pointer, hits, place);
                let hits = self.unless_skipped(hits);
                for fault in &mut aimed.faults {
                    fault.1 = self.guarded(Some(fault.1)).unwrap_or(fault.1);
                }
                (aimed.address, aimed.hits) = (pointer, Some(hits));
            }
            Some(Aim::Pinned(why)) => {
                let why = why.clone();
                self.pin(t, event.id, event.site, &[pointer], why);
            }
            // This walk is only to find out.
            None => {}
        }
        Ok(aimed)
    }

    /// What an access does that hits no target: an address near null is one fault, any other another.
    fn faults(&mut self, address: ExprId, hits: ExprId, recorded: Location) -> Vec<(FaultKind, ExprId)> {
        let null_end = if self.space.compiled { 4096 } else { 1 << crate::space::OFFSET_BITS };
        let end = self.expressions.int(Width::W64, null_end);
        let null = self.expressions.compare(ir::Predicate::Ult, address, end);
        let mut faults = vec![(FaultKind::NullAccess, null)];
        // Of memory that nobody is known to have allocated nobody knows where it ends.
        if self.space.has_bounds(recorded.allocation) {
            let known = self.expressions.or(null, hits);
            faults.push((FaultKind::OutOfBounds, self.expressions.not(known)));
        }
        faults
    }

    /// An address of our own is another one in the run: so that is where the global is.
    pub(super) fn learn(&mut self, own: u64, recorded: u64) {
        if Space::is_own(own)
            && let Some((global, offset)) = self.space.own_global(own)
        {
            self.learned.push((global, recorded.wrapping_sub(offset)));
        }
    }

    /// Counts whether a rebuilt value is the recorded one; one that nobody knows is taken as recorded.
    pub(super) fn compare(&mut self, event: &trace::Event, value: ExprId, recorded: u128) -> bool {
        self.rebuild.accesses += 1;
        match self.expressions.recorded(value) {
            Some(rebuilt) if rebuilt == recorded => {
                self.rebuild.rebuilt += 1;
                true
            }
            Some(rebuilt) if !Space::is_own(rebuilt as u64) => {
                self.rebuild.mismatches += 1;
                self.rebuild.first_mismatch.get_or_insert(event.id);
                false
            }
            rebuilt => {
                self.rebuild.taken += 1;
                if let Some(rebuilt) = rebuilt {
                    self.learn(rebuilt as u64, recorded as u64);
                }
                false
            }
        }
    }

    /// Reads a target: the content of its pieces, and the reads of the shared ones. `recorded` is what was read there, `None`
    /// if the recorded run went elsewhere. `local` is what the value goes into.
    pub(super) fn read_target(
        &mut self,
        event: &trace::Event,
        (place, bytes): (Location, u64),
        when: Option<ExprId>,
        recorded: Option<&[u8]>,
        local: Option<&str>,
    ) -> (Vec<ExprId>, Vec<ReadId>) {
        let (mut content, mut reads) = (vec![], vec![]);
        let when = self.guarded(when);
        let next = EventIndex::new(self.events.len());
        for at in self.layout.pieces(place, bytes) {
            let piece = self.layout.pieces[at as usize];
            let from = (piece.place.offset - place.offset) as usize;
            let width = bytes_width(piece.bytes);
            let seen = recorded.map(|recorded| number(recorded, from, piece.bytes));
            match piece.shared {
                Some(location) => {
                    let read = ReadId::new(self.reads.len());
                    let source = seen.and(self.writers[location.index()]);
                    let recorded = seen.unwrap_or(0);
                    let local = local.map(Into::into);
                    self.reads.push(Read { event: next, location, width, when, recorded, source, local });
                    reads.push(read);
                    content.push(self.expressions.read(read, width, recorded));
                }
                None => {
                    let held = match self.memory[at as usize] {
                        Some(held) => held,
                        None => match self.space.initial(piece.place, u64::from(piece.bytes)) {
                            Some(initial) => self.expressions.int(width, initial),
                            None => self.expressions.unknown(width),
                        },
                    };
                    let held = match seen {
                        Some(seen) if self.expressions.recorded(held) != Some(seen) => {
                            // Memory of compiled code may be changed by code that the trace does not see.
                            match self.space.compiled || self.expressions.is_unknown(held) {
                                true => self.rebuild.taken += 1,
                                false => {
                                    self.rebuild.mismatches += 1;
                                    self.rebuild.first_mismatch.get_or_insert(event.id);
                                }
                            }
                            self.expressions.int(width, seen)
                        }
                        _ => held,
                    };
                    self.memory[at as usize] = Some(held);
                    content.push(held);
                }
            }
        }
        (content, reads)
    }

    /// Memory of compiled code may be changed by code that the trace does not see. What a read saw and no event wrote was
    /// written out there, at the latest now: such a write is added.
    pub(super) fn written_unseen(
        &mut self,
        t: usize,
        event: &trace::Event,
        (place, bytes): (Location, u64),
        seen: &[u8],
    ) {
        if !self.space.compiled {
            return;
        }
        // It was written whichever way the thread goes here.
        let guard = self.guard.take();
        for at in self.layout.pieces(place, bytes) {
            let piece = self.layout.pieces[at as usize];
            let Some(location) = piece.shared else { continue };
            let from = (piece.place.offset - place.offset) as usize;
            let number = number(seen, from, piece.bytes);
            if self.holds[location.index()] == Some(number) {
                continue;
            }
            let value = self.expressions.int(bytes_width(piece.bytes), number);
            let bytes = u64::from(piece.bytes);
            let writes = self.write_target((piece.place, bytes), &[value], None, true);
            let address = self.space.address(piece.place).unwrap_or(0);
            let target = Target { address, place: piece.place, when: None, reads: vec![], writes };
            let access = Access {
                address: self.expressions.int(Width::W64, u128::from(address)),
                recorded: piece.place,
                bytes,
                order: None,
                targets: vec![target],
                hits: None,
                faults: vec![],
                old: None,
                new: Some(value),
                decision: None,
            };
            self.emit_silent(t, event.id, event.site, Kind::Write(access));
        }
        self.guard = guard;
    }

    /// Writes a target. `certain` says that the recorded run wrote there.
    pub(super) fn write_target(
        &mut self,
        (place, bytes): (Location, u64),
        value: &[ExprId],
        when: Option<ExprId>,
        certain: bool,
    ) -> Vec<Write> {
        let mut writes = vec![];
        let when = self.guarded(when);
        let next = EventIndex::new(self.events.len());
        for at in self.layout.pieces(place, bytes) {
            let piece = self.layout.pieces[at as usize];
            let from = (piece.place.offset - place.offset) as u32;
            let value = self.slice(value, from, piece.bytes);
            match piece.shared {
                Some(location) => {
                    writes.push(Write { location, value, when });
                    if certain {
                        self.writers[location.index()] = Some(next);
                        self.holds[location.index()] = self.expressions.recorded(value);
                    }
                }
                None if certain => {
                    let old = self.memory[at as usize];
                    self.memory[at as usize] = Some(match (self.guard, old) {
                        (Some(guard), Some(old)) => self.expressions.select(guard, value, old),
                        (Some(guard), None) => {
                            let initial = self.space.initial(piece.place, u64::from(piece.bytes));
                            let width = bytes_width(piece.bytes);
                            let old = initial.map(|initial| self.expressions.int(width, initial));
                            let old = old.unwrap_or_else(|| self.expressions.unknown(width));
                            self.expressions.select(guard, value, old)
                        }
                        (None, _) => value,
                    });
                }
                None => {}
            }
        }
        writes
    }

    /// So many bytes, at most 8, from a byte of some content on.
    pub(super) fn slice(&mut self, content: &[ExprId], from: u32, bytes: u32) -> ExprId {
        let (mut begin, end) = (0, from + bytes);
        let mut whole: Option<ExprId> = None;
        for &part in content {
            let length = self.expressions.width(part).bits() / 8;
            let (low, high) = (from.max(begin), end.min(begin + length));
            if low < high {
                let width = bytes_width(high - low);
                let piece = self.expressions.extract(part, 8 * (low - begin), width);
                whole = Some(match whole {
                    Some(below) => self.expressions.concat(piece, below),
                    None => piece,
                });
            }
            begin += length;
        }
        let width = bytes_width(bytes);
        match whole {
            Some(whole) if self.expressions.width(whole) == width => whole,
            _ => self.expressions.unknown(width),
        }
    }

    /// Some content as one value, if it has at most 16 bytes.
    pub(super) fn join(&mut self, content: &[ExprId]) -> Option<ExprId> {
        let bits: u32 = content.iter().map(|&part| self.expressions.width(part).bits()).sum();
        if bits > 128 {
            return None;
        }
        let (&first, rest) = content.split_first()?;
        let mut whole = first;
        for &part in rest {
            whole = self.expressions.concat(part, whole);
        }
        Some(whole)
    }

    /// Bytes as constants of at most 8 bytes each.
    pub(super) fn constants(&mut self, content: &[u8]) -> Vec<ExprId> {
        let chunks = content.chunks(8);
        chunks.map(|c| self.expressions.int(bytes_width(c.len() as u32), number(c, 0, 8))).collect()
    }

    /// Reads memory that the trace says nothing of: a private variable, or a constant.
    pub(super) fn hidden_load(&mut self, address: ExprId, bytes: u32) -> Option<ExprId> {
        let address = self.expressions.recorded(address)? as u64;
        let mut whole: Option<ExprId> = None;
        for n in 0..bytes {
            let byte = match self.hidden.get(&(address + u64::from(n))) {
                Some(&(value, from)) => self.expressions.extract(value, 8 * from, Width::W8),
                None => {
                    let constant = self.constant_byte(address + u64::from(n))?;
                    self.expressions.int(Width::W8, constant)
                }
            };
            whole = Some(match whole {
                Some(below) => self.expressions.concat(byte, below),
                None => byte,
            });
        }
        whole
    }

    fn constant_byte(&self, address: u64) -> Option<u128> {
        if let Some((global, offset)) = self.space.own_global(address) {
            return self.space.content(global, offset, 1);
        }
        let place = self.space.place(address, 1)?;
        let global = self.space.origin_global(place.allocation)?;
        match self.program.global(global).constant {
            true => self.space.content(global, place.offset, 1),
            false => None,
        }
    }

    /// Writes memory that the trace says nothing of.
    pub(super) fn hidden_store(&mut self, address: ExprId, value: ExprId, bytes: u32) {
        let Some(address) = self.expressions.recorded(address) else { return };
        let width = self.expressions.width(value).bits();
        for n in 0..bytes.min(16) {
            let byte = if 8 * n + 8 <= width {
                (value, n)
            } else {
                let widened = self.expressions.resize(value, bytes_width(bytes));
                (widened, n)
            };
            self.hidden.insert(address as u64 + u64::from(n), byte);
        }
    }

    /// Fills memory that the trace says nothing of.
    pub(super) fn hidden_fill(&mut self, to: ExprId, byte: ExprId, bytes: ExprId) {
        let (to, bytes) = (self.expressions.recorded(to), self.expressions.recorded(bytes));
        let (Some(to), Some(bytes)) = (to, bytes) else { return };
        let byte = self.expressions.resize(byte, Width::W8);
        for n in 0..(bytes as u64).min(MOST_HIDDEN) {
            self.hidden.insert((to as u64).wrapping_add(n), (byte, 0));
        }
    }

    /// Copies memory that the trace says nothing of.
    pub(super) fn hidden_copy(&mut self, to: ExprId, from: ExprId, bytes: ExprId) {
        let [to, from, bytes] = [to, from, bytes].map(|value| self.expressions.recorded(value));
        let (Some(to), Some(from), Some(bytes)) = (to, from, bytes) else { return };
        let content: Vec<Option<(ExprId, u32)>> = (0..(bytes as u64).min(MOST_HIDDEN))
            .map(|n| {
                let at = (from as u64).wrapping_add(n);
                match self.hidden.get(&at) {
                    Some(&byte) => Some(byte),
                    None => self.constant_byte(at).map(|byte| (self.expressions.int(Width::W8, byte), 0)),
                }
            })
            .collect();
        for (n, byte) in (0..).zip(content) {
            let at = (to as u64).wrapping_add(n);
            match byte {
                Some(byte) => self.hidden.insert(at, byte),
                None => self.hidden.remove(&at),
            };
        }
    }

    /// What happens if an index is so large that the machine's addresses do not follow plain addition.
    pub(super) fn require_near(
        &mut self,
        t: usize,
        event: &trace::Event,
        site: ir::SiteId,
        index: ExprId,
        bound: u64,
    ) {
        let condition = crate::pure::is_near(&mut self.expressions, index, bound);
        self.require(t, event.id, site, condition, Otherwise::FarAddress);
    }
}
