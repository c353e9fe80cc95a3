//! Packing units; in the way of the running program, so that every instruction counts.

use super::{
    AS_EXPECTED, Known, MOST_UNITS, NEW_PERIOD, NOTHING, WHOLE, bytes_of, expected, same_site, zigzag,
};
use crate::unit::{SITE_BITS, Unit};
use alloc::{boxed::Box, vec};

/// Bytes of one literal at most: two of its head, two of a period, the first word, the value.
const LITERAL: usize = 20;

/// Where units of a site were last, for so many sites.
const REMEMBERED: usize = 1 << 10;

/// So many units before they are looked at, what is known of their memory is fetched.
const AHEAD: usize = 48;

/// What packs units.
pub struct Packer {
    known: Known,
    /// By how much each value differed from the last one at its address.
    differences: Box<[u64]>,
    /// By the low bits of a site: the number of its last unit, plus one.
    last: Box<[u16; REMEMBERED]>,
}

impl Default for Packer {
    fn default() -> Packer {
        Packer {
            known: Known::default(),
            differences: vec![0; MOST_UNITS].into_boxed_slice(),
            last: Box::new([0; REMEMBERED]),
        }
    }
}

/// The bytes that so many packed units take at most, in either way.
#[must_use]
pub const fn most_bytes(units: usize) -> usize {
    (units + 2) * LITERAL
}

/// Where the bytes go.
pub(super) struct Output {
    pub(super) next: *mut u8,
}

impl Output {
    /// Puts the lowest bytes of a word. There is room for eight.
    #[inline(always)]
    pub(super) fn put(&mut self, word: u64, bytes: usize) {
        // SAFETY: `pack` asks for room for every literal as large as can be, and the last one's slack.
        unsafe { self.next.cast::<u64>().write_unaligned(word.to_le()) };
        self.next = self.next.wrapping_add(bytes);
    }

    #[inline(always)]
    fn put_head(&mut self, before: usize, place: u8, value: u8) {
        self.put(before as u64 | u64::from(place | value << 4) << 8, 2);
    }
}

impl Packer {
    /// Packs units, at most [`MOST_UNITS`]; how many bytes they take. `output` has room for [`most_bytes`].
    ///
    /// # Panics
    /// If there are more units, or there is less room.
    pub fn pack(&mut self, units: &[Unit], output: &mut [u8]) -> usize {
        assert!(units.len() <= MOST_UNITS && output.len() >= most_bytes(units.len()));
        self.last.fill(0);
        let mut out = Output { next: output.as_mut_ptr() };
        let (mut at, mut period) = (0, 0);
        // Up to where units are written; up to where they are in `last`; how many have had the site of the one a period before.
        let (mut written, mut remembered, mut steady) = (0, 0, 0);
        // Up to where is looked next.
        let mut near = 0;
        self.known.fetch(&units[..units.len().min(AHEAD)]);
        while at < units.len() {
            if at == near {
                near = units.len().min(near + AHEAD);
                self.known.fetch(&units[near..units.len().min(near + AHEAD)]);
            }
            if steady >= period && period != 0 {
                let units = &units[..near];
                let end = match period {
                    1 => self.follow_short::<1>(units, at),
                    2 => self.follow_short::<2>(units, at),
                    3 => self.follow_short::<3>(units, at),
                    4 => self.follow_short::<4>(units, at),
                    _ => self.follow(units, at, period),
                };
                steady += end - at;
                at = end;
                if at == near {
                    continue;
                }
            }
            let Unit { place, value } = units[at];
            let known = self.known.at(place);
            let difference = value.wrapping_sub(*known);
            *known = value;
            self.differences[at] = difference;
            let mut code = 0;
            let mut guess = guess(units, at, period);
            if !same_site(guess, place) || period == 0 {
                self.remember(units, remembered.max(at.saturating_sub(period)), at);
                remembered = at;
                let last = usize::from(self.last[place as usize % REMEMBERED]);
                steady = 0;
                if last == 0 || !same_site(units[last - 1].place, place) {
                    written = skip(&mut out, written, at);
                    whole(&mut out, at - written, place, difference);
                    at += 1;
                    self.remember(units, remembered, at);
                    (written, remembered) = (at, at);
                    continue;
                }
                period = at + 1 - last;
                guess = self::guess(units, at, period);
                code = NEW_PERIOD;
            }
            steady += 1;
            let off = place.wrapping_sub(guess);
            let as_expected = difference == self.differences[at - period];
            if off != 0 || !as_expected || code != 0 {
                written = skip(&mut out, written, at);
                let address = zigzag(((off as i64) >> SITE_BITS) as u64);
                let folded = zigzag(difference);
                let (address_bytes, bytes) = (bytes_of(address), bytes_of(folded));
                let (value_code, bytes) = if as_expected { (AS_EXPECTED, 0) } else { (bytes as u8, bytes) };
                out.put_head(at - written, code + address_bytes as u8, value_code);
                out.put(period as u64, usize::from(code != 0) * 2);
                out.put(address, address_bytes);
                out.put(folded, bytes);
                written = at + 1;
            }
            at += 1;
        }
        written = skip(&mut out, written, at);
        if written < at {
            out.put_head(at - written, NOTHING, 0);
        }
        out.next as usize - output.as_ptr() as usize
    }

    /// The first unit from `at` on that is not as expected. Sites have repeated for a period.
    #[inline]
    fn follow(&mut self, units: &[Unit], at: usize, period: usize) -> usize {
        let mut here = at;
        loop {
            let round = period.min(units.len() - here);
            let before = units[here - period..][..round].iter().zip(&units[here - 2 * period..][..round]);
            let differences = &self.differences[at - period..][..round];
            let known = &mut self.known;
            let is_off = |((unit, difference), (one, two)): ((&Unit, &u64), (&Unit, &Unit))| {
                let last = known.at(unit.place);
                let off = one.place.wrapping_add(one.place).wrapping_sub(two.place) != unit.place
                    || unit.value.wrapping_sub(*last) != *difference;
                if !off && *difference != 0 {
                    *last = unit.value;
                }
                off
            };
            let mut pairs = units[here..][..round].iter().zip(differences).zip(before);
            let same = pairs.position(is_off).unwrap_or(round);
            self.differences.copy_within(at - period..at - period + same, here);
            here += same;
            if same < round || here == units.len() {
                return here;
            }
        }
    }

    /// The same for a short period, whose expectations fit into registers; the last units, less than a period, are left.
    #[inline]
    fn follow_short<const PERIOD: usize>(&mut self, units: &[Unit], at: usize) -> usize {
        assert!(2 * PERIOD <= at);
        let one: [Unit; PERIOD] = core::array::from_fn(|n| units[at - PERIOD + n]);
        let steps: [u64; PERIOD] =
            core::array::from_fn(|n| one[n].place.wrapping_sub(units[at - 2 * PERIOD + n].place));
        let differences: [u64; PERIOD] = core::array::from_fn(|n| self.differences[at - PERIOD + n]);
        let mut places = one.map(|unit| unit.place);
        let mut here = at;
        'units: for round in units[at..].as_chunks::<PERIOD>().0 {
            for n in 0..PERIOD {
                places[n] = places[n].wrapping_add(steps[n]);
                let known = self.known.at(places[n]);
                let value = known.wrapping_add(differences[n]);
                if round[n] != (Unit { place: places[n], value }) {
                    here += n;
                    break 'units;
                }
                if differences[n] != 0 {
                    *known = value;
                }
            }
            here += PERIOD;
        }
        let (rounds, rest) = self.differences[at..here].as_chunks_mut::<PERIOD>();
        rounds.fill(differences);
        rest.copy_from_slice(&differences[..rest.len()]);
        here
    }

    /// Remembers where the sites of these units were.
    fn remember(&mut self, units: &[Unit], from: usize, to: usize) {
        for (at, unit) in units[..to].iter().enumerate().skip(from) {
            self.last[unit.place as usize % REMEMBERED] = at as u16 + 1;
        }
    }
}

/// The first word that is expected.
#[inline(always)]
fn guess(units: &[Unit], at: usize, period: usize) -> u64 {
    let one = units[at - period].place;
    match at.checked_sub(2 * period) {
        Some(two) => expected(one, units[two].place),
        None => one,
    }
}

/// Says that units were as expected, but for at most as many as a literal can say; from where on they are still to be said.
#[inline(always)]
fn skip(out: &mut Output, mut from: usize, to: usize) -> usize {
    while to - from > usize::from(u8::MAX) {
        out.put_head(usize::from(u8::MAX), NOTHING, 0);
        from += usize::from(u8::MAX);
    }
    from
}

fn whole(out: &mut Output, before: usize, place: u64, difference: u64) {
    let folded = zigzag(difference);
    let bytes = bytes_of(folded);
    out.put_head(before, WHOLE, bytes as u8);
    out.put(place, 8);
    out.put(folded, bytes);
}
