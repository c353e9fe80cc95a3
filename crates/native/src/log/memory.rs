//! Which piece of memory an address lies in, now.
//!
//! Pieces come and go: globals with their module, heap memory as it is allocated, variables on the stack as functions are
//! entered. A new piece takes its bytes from whatever lay there before. Freed memory stays what it was until somebody else gets
//! it, so that an access to it still has a name. Memory that nobody accounts for is a page.
//!
//! Nearly every access hits a piece that was hit shortly before, so a small table of recent answers, by address, stands before
//! the ordered map.

use ir::{Program, Shape, ShapeId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use trace::{Allocation, AllocationId, AllocationOrigin, Location};

const PAGE: u64 = 4096;
/// The table of recent answers: one for each line of so many bytes, and so many of them.
const LINE_BITS: u32 = 6;
const LINES: usize = 1 << 12;

/// A piece of memory, by its number.
pub type PieceId = u32;

/// A piece of memory.
struct Piece {
    origin: AllocationOrigin,
    shape: Option<ShapeId>,
    bytes: u64,
    address: u64,
    /// Its number in the trace, once something there names it.
    id: Option<AllocationId>,
}

#[derive(Clone, Copy)]
struct Line {
    start: u64,
    end: u64,
    piece: PieceId,
}

const NO_LINE: Line = Line { start: 1, end: 0, piece: 0 };

/// All memory of a run.
pub struct Memory<'p> {
    program: &'p Program,
    pieces: Vec<Piece>,
    /// By start: end and piece. They do not overlap.
    spans: BTreeMap<u64, (u64, PieceId)>,
    lines: Vec<Line>,
    /// Heap pieces whose content is not known to be a record, by their address.
    untyped: FxHashMap<u64, PieceId>,
    /// The pieces that the trace names.
    pub allocations: Vec<Allocation>,
}

impl<'p> Memory<'p> {
    /// Nothing yet.
    pub fn new(program: &'p Program) -> Memory<'p> {
        Memory {
            program,
            pieces: vec![],
            spans: BTreeMap::new(),
            lines: vec![NO_LINE; LINES],
            untyped: FxHashMap::default(),
            allocations: vec![],
        }
    }

    /// A new piece; it takes its bytes from others.
    pub fn add(
        &mut self,
        origin: AllocationOrigin,
        shape: Option<ShapeId>,
        address: u64,
        bytes: u64,
    ) -> PieceId {
        let piece = self.pieces.len() as PieceId;
        self.pieces.push(Piece { origin, shape, bytes, address, id: None });
        // A piece of no bytes is still one: its address is its own.
        self.place(address, address.saturating_add(bytes.max(1)), piece);
        if matches!(origin, AllocationOrigin::Heap { .. }) {
            self.untyped.insert(address, piece);
        }
        piece
    }

    fn place(&mut self, start: u64, end: u64, piece: PieceId) {
        // What begins before and reaches in.
        if let Some((&before, &(reaches, other))) = self.spans.range(..start).next_back()
            && reaches > start
        {
            self.spans.insert(before, (start, other));
            if reaches > end {
                self.spans.insert(end, (reaches, other));
            }
            self.forget(before, reaches);
        }
        // What begins inside.
        while let Some((&inside, &(reaches, other))) = self.spans.range(start..end).next() {
            self.spans.remove(&inside);
            if reaches > end {
                self.spans.insert(end, (reaches, other));
            }
            self.forget(inside, reaches);
        }
        self.spans.insert(start, (end, piece));
        self.forget(start, end);
    }

    /// Forgets recent answers about these addresses.
    fn forget(&mut self, start: u64, end: u64) {
        let (first, last) = (start >> LINE_BITS, end.saturating_sub(1) >> LINE_BITS);
        if last - first >= LINES as u64 {
            self.lines.fill(NO_LINE);
            return;
        }
        for line in first..=last {
            self.lines[line as usize % LINES] = NO_LINE;
        }
    }

    /// The piece that an address lies in.
    #[inline]
    pub fn piece(&mut self, address: u64) -> PieceId {
        let line = &self.lines[(address >> LINE_BITS) as usize % LINES];
        if line.start <= address && address < line.end {
            return line.piece;
        }
        self.find(address)
    }

    fn find(&mut self, address: u64) -> PieceId {
        let (start, end, piece) = match self.spans.range(..=address).next_back() {
            Some((&start, &(end, piece))) if address < end => (start, end, piece),
            before => {
                // A page, as far as nobody else has a part of it.
                let page = address & !(PAGE - 1);
                let start = before.map_or(page, |(_, &(end, _))| page.max(end));
                let next = self.spans.range(address..).next().map_or(u64::MAX, |(&next, _)| next);
                let end = page.saturating_add(PAGE).min(next).max(address.saturating_add(1));
                let piece = self.pieces.len() as PieceId;
                let origin = AllocationOrigin::Page(page);
                self.pieces.push(Piece { origin, shape: None, bytes: PAGE, address: page, id: None });
                self.spans.insert(start, (end, piece));
                (start, end, piece)
            }
        };
        self.lines[(address >> LINE_BITS) as usize % LINES] = Line { start, end, piece };
        piece
    }

    /// Where a piece comes from.
    pub fn origin(&self, piece: PieceId) -> AllocationOrigin {
        self.pieces[piece as usize].origin
    }

    /// The first address of a piece.
    pub fn address(&self, piece: PieceId) -> u64 {
        self.pieces[piece as usize].address
    }

    /// A piece comes from elsewhere than was thought.
    pub fn set_origin(&mut self, piece: PieceId, origin: AllocationOrigin) {
        let piece = &mut self.pieces[piece as usize];
        piece.origin = origin;
        if let Some(id) = piece.id {
            self.allocations[id.0 as usize].origin = origin;
        }
    }

    /// The number of a piece in the trace.
    pub fn allocation(&mut self, piece: PieceId) -> AllocationId {
        let piece = &mut self.pieces[piece as usize];
        *piece.id.get_or_insert_with(|| {
            let id = AllocationId(self.allocations.len() as u32);
            let Piece { origin, shape, bytes, address, .. } = *piece;
            self.allocations.push(Allocation { id, origin, shape, bytes, address });
            id
        })
    }

    /// The location of an address.
    #[inline]
    pub fn location(&mut self, address: u64) -> Location {
        let piece = self.piece(address);
        let offset = address - self.pieces[piece as usize].address;
        let allocation = match self.pieces[piece as usize].id {
            Some(id) => id,
            None => self.allocation(piece),
        };
        Location { allocation, offset }
    }

    /// How far free memory reaches upwards from an address, up to `most` bytes.
    pub fn room_above(&self, address: u64, most: u64) -> u64 {
        let limit = address.saturating_add(most);
        let mut spans = self.spans.range(address.saturating_add(1)..limit);
        let next = spans.find(|(_, (_, piece))| {
            matches!(self.pieces[*piece as usize].origin, AllocationOrigin::Stack { .. })
        });
        next.map_or(limit, |(&start, _)| start) - address
    }

    /// A pointer was written: what it points to has the shape that the pointer promises, if nothing better is known.
    #[inline]
    pub fn pointer_written(&mut self, at: Location, value: u64) {
        if let Some(&piece) = self.untyped.get(&value) {
            self.infer(at, piece);
        }
    }

    fn infer(&mut self, at: Location, piece: PieceId) {
        let Some(holder) = self.allocations.get(at.allocation.0 as usize).and_then(|holder| holder.shape)
        else {
            return;
        };
        let element = self.program.shape_bytes(holder).max(1);
        let Shape::Pointer { to: Some(to) } = self.program.part_shape(holder, at.offset % element) else {
            return;
        };
        self.holds(piece, *to);
    }

    /// A heap piece holds things of this shape.
    pub fn holds(&mut self, piece: PieceId, shape: ShapeId) {
        let bytes = self.program.shape_bytes(shape);
        let known = &mut self.pieces[piece as usize];
        if bytes == 0 || bytes > known.bytes || matches!(self.program.shape(shape), Shape::Opaque { .. }) {
            return;
        }
        known.shape = Some(shape);
        if let Some(id) = known.id {
            self.allocations[id.0 as usize].shape = Some(shape);
        }
        // A record is as good as it gets; `char *` may still turn out to be something else.
        if matches!(self.program.shape(shape), Shape::Record { .. }) {
            self.untyped.remove(&known.address);
        }
    }
}
