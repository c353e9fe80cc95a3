//! Locations: pieces of memory that no access splits, and which of them are shared
//! (docs/design/concurrent-trace-programs.md, "Shared memory").
//!
//! The bounds of all accesses cut memory into pieces; a piece is at most eight bytes. A piece is shared if more than one
//! thread touches it, or if an access with a symbolic address may hit it: what such an access reads or writes depends on the
//! schedule even if only one thread is there. All pieces that are not shared can be forwarded within their thread.

use crate::LocationId;
use rustc_hash::FxHashMap;
use std::ops::Range;
use trace::{AllocationId, Location, ThreadId};

/// Who touches a range of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Touched {
    By(ThreadId),
    ByMany,
}

impl Touched {
    fn with(self, other: Touched) -> Touched {
        if self == other { self } else { Touched::ByMany }
    }
}

/// A place with its length.
type Range3 = (AllocationId, u64, u64);

/// All ranges of bytes that are accessed, and by whom.
#[derive(Clone, Debug, Default)]
pub struct Footprints {
    ranges: FxHashMap<Range3, Touched>,
    freed: FxHashMap<AllocationId, Touched>,
}

impl Footprints {
    /// A thread accesses so many bytes.
    #[inline]
    pub fn access(&mut self, thread: ThreadId, at: Location, bytes: u64) {
        self.touch((at.allocation, at.offset, bytes), Touched::By(thread));
    }

    /// An access may hit this, in some schedule.
    pub fn may_hit(&mut self, at: Location, bytes: u64) {
        self.touch((at.allocation, at.offset, bytes), Touched::ByMany);
    }

    /// A thread gives an allocation back: it touches all of it, and splits nothing.
    pub fn free(&mut self, thread: ThreadId, allocation: AllocationId) {
        let touched = Touched::By(thread);
        self.freed.entry(allocation).and_modify(|known| *known = known.with(touched)).or_insert(touched);
    }

    #[inline]
    fn touch(&mut self, range: Range3, touched: Touched) {
        if range.2 > 0 {
            self.ranges.entry(range).and_modify(|known| *known = known.with(touched)).or_insert(touched);
        }
    }
}

/// A piece of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    pub place: Location,
    /// 1 to 8.
    pub bytes: u32,
    /// Its number among the shared ones.
    pub shared: Option<LocationId>,
}

/// All pieces of memory.
#[derive(Debug)]
pub struct Layout {
    pub pieces: Vec<Piece>,
    /// The pieces that each accessed range consists of.
    ranges: FxHashMap<Range3, Range<u32>>,
    pub shared: Vec<u32>,
    /// The allocations with shared pieces.
    allocations: rustc_hash::FxHashSet<AllocationId>,
}

impl Layout {
    /// Cuts memory.
    pub fn new(footprints: &Footprints) -> Layout {
        let mut accesses: Vec<(Range3, Touched)> =
            footprints.ranges.iter().map(|(range, touched)| (*range, *touched)).collect();
        accesses.sort_unstable_by_key(|&(range, _)| range);
        let mut layout = Layout {
            pieces: vec![],
            ranges: FxHashMap::default(),
            shared: vec![],
            allocations: rustc_hash::FxHashSet::default(),
        };
        for group in accesses.chunk_by(|(a, _), (b, _)| a.0 == b.0) {
            let allocation = group[0].0.0;
            layout.cut(allocation, group, footprints.freed.get(&allocation).copied());
        }
        layout
    }

    /// Cuts one allocation.
    fn cut(&mut self, allocation: AllocationId, accesses: &[(Range3, Touched)], freed: Option<Touched>) {
        let mut bounds: Vec<u64> =
            accesses.iter().flat_map(|&((_, from, bytes), _)| [from, from.saturating_add(bytes)]).collect();
        bounds.sort_unstable();
        bounds.dedup();
        // Bytes between two bounds that nobody accesses make no piece.
        let mut reach = 0;
        let mut next = accesses.iter();
        let mut upcoming = next.next();
        let first = self.pieces.len();
        for pair in bounds.windows(2) {
            while let Some(&((_, from, bytes), _)) = upcoming
                && from <= pair[0]
            {
                reach = reach.max(from.saturating_add(bytes));
                upcoming = next.next();
            }
            let mut from = pair[0];
            while from < pair[1] && pair[0] < reach {
                let bytes = (pair[1] - from).min(8);
                let place = Location { allocation, offset: from };
                self.pieces.push(Piece { place, bytes: bytes as u32, shared: None });
                from += bytes;
            }
        }
        let mut touched: Vec<Option<Touched>> = vec![freed; self.pieces.len() - first];
        for &(range, by) in accesses {
            let from = first + self.pieces[first..].partition_point(|piece| piece.place.offset < range.1);
            let end = range.1.saturating_add(range.2);
            let to = from + self.pieces[from..].partition_point(|piece| piece.place.offset < end);
            self.ranges.insert(range, from as u32..to as u32);
            for piece in &mut touched[from - first..to - first] {
                *piece = Some(piece.map_or(by, |known| known.with(by)));
            }
        }
        for (at, touched) in (first..).zip(touched) {
            if touched == Some(Touched::ByMany) {
                self.pieces[at].shared = Some(LocationId::new(self.shared.len()));
                self.shared.push(at as u32);
                self.allocations.insert(allocation);
            }
        }
    }

    /// The pieces of an access; none if nobody said that it would come.
    #[inline]
    pub fn pieces(&self, at: Location, bytes: u64) -> Range<u32> {
        self.ranges.get(&(at.allocation, at.offset, bytes)).cloned().unwrap_or(0..0)
    }

    /// Whether something of an allocation is shared.
    pub fn is_shared(&self, allocation: AllocationId) -> bool {
        self.allocations.contains(&allocation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_cut_memory_and_only_what_two_touch_is_shared() {
        let [a, b] = [0, 1].map(|n| ThreadId::MAIN.child(n).unwrap());
        let at = |offset| Location { allocation: AllocationId(3), offset };
        let mut footprints = Footprints::default();
        footprints.access(a, at(0), 8);
        footprints.access(b, at(4), 2);
        footprints.access(a, at(20), 4);
        footprints.access(a, at(30), 20);
        let layout = Layout::new(&footprints);
        let pieces: Vec<_> =
            layout.pieces.iter().map(|p| (p.place.offset, p.bytes, p.shared.is_some())).collect();
        assert_eq!(
            pieces,
            [
                (0, 4, false),
                (4, 2, true),
                (6, 2, false),
                (20, 4, false),
                (30, 8, false),
                (38, 8, false),
                (46, 4, false)
            ]
        );
        assert_eq!(layout.pieces(at(0), 8), 0..3);
        assert_eq!(layout.pieces(at(1), 8), 0..0);
        footprints.may_hit(at(20), 4);
        assert!(Layout::new(&footprints).pieces[3].shared.is_some());
        footprints.free(b, AllocationId(3));
        assert!(Layout::new(&footprints).pieces.iter().all(|piece| piece.shared.is_some()));
    }
}
