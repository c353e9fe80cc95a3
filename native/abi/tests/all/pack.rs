//! Whatever is packed comes back, and nothing that is not packed units does harm.

use abi::pack::{Known, MOST_UNITS, Neighbours, Packer, Unpacking, most_bytes, unpack};
use abi::unit::{SITE_BITS, Unit};

/// A sequence of numbers that looks like chance.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn word(&mut self) -> u64 {
        self.below(1 << 31) << 33 ^ self.below(1 << 31) << 11 ^ self.below(1 << 31)
    }
}

/// Units of a program with loops in loops, jumps, counters, and now and then something that is no unit at all.
fn units(chance: &mut Chance, most: usize) -> Vec<Unit> {
    let mut units = vec![];
    while units.len() < most {
        let sites = 1 + chance.below(7);
        let base = 4096 + chance.below(1 << 40);
        let steps: Vec<u64> = (0..sites).map(|_| [0, 4, 8, 1280][chance.below(4) as usize]).collect();
        let first = chance.below(1 << 20);
        for round in 0..chance.below(400) {
            for site in 0..sites {
                let address = base + (site << 12) + round * steps[site as usize];
                let value = match chance.below(40) {
                    0 => chance.word(),
                    1 => round,
                    _ => address % 100,
                };
                units.push(Unit { place: address << SITE_BITS | (first + site), value });
            }
            if chance.below(50) == 0 {
                units.push(Unit { place: chance.word(), value: chance.word() });
            }
        }
    }
    units.truncate(most);
    units
}

/// The same with notes among them.
fn units_and_notes(chance: &mut Chance, most: usize) -> Vec<Unit> {
    let mut noted = vec![];
    for (n, &unit) in units(chance, most).iter().enumerate() {
        noted.push(unit);
        if chance.below(8) == 0 {
            let text = vec![chance.below(256) as u8; chance.below(100) as usize];
            noted.extend(note(n as u64 + chance.below(2), &text));
        }
    }
    noted.truncate(most);
    noted
}

/// A note of these bytes.
fn note(number: u64, bytes: &[u8]) -> Vec<Unit> {
    let mut filled = bytes.to_vec();
    filled.resize(bytes.len().next_multiple_of(16), 0);
    let words = filled.as_chunks::<16>().0.iter().map(|bytes| u128::from_le_bytes(*bytes));
    let parts = words.map(|word| Unit { place: word as u64, value: (word >> 64) as u64 });
    [Unit { place: number << SITE_BITS, value: bytes.len() as u64 }].into_iter().chain(parts).collect()
}

#[test]
fn what_is_packed_comes_back_either_way() {
    for seed in 0..40 {
        let mut chance = Chance(seed);
        let (mut periods, mut known) = (Packer::default(), Known::default());
        let (mut neighbours, mut unpacking) = (Neighbours::default(), Unpacking::default());
        let mut output = vec![0; most_bytes(MOST_UNITS)];
        let mut back = vec![];
        for _ in 0..4 {
            let count = chance.below(MOST_UNITS as u64) as usize;
            let units = match chance.below(2) {
                0 => units(&mut chance, count),
                _ => units_and_notes(&mut chance, count),
            };
            let bytes = periods.pack(&units, &mut output);
            unpack(&mut known, &output[..bytes], units.len(), &mut back).expect("what the packer made");
            assert_eq!(back, units, "{seed}, by periods");
            let bytes = neighbours.pack(&units, &mut output);
            unpacking.unpack(&output[..bytes], units.len(), &mut back).expect("what the packer made");
            assert_eq!(back, units, "{seed}, by neighbours");
        }
    }
}

#[test]
fn notes_about_texts_take_few_bytes() {
    let mut chance = Chance(3);
    let mut units = vec![];
    for n in 1..1_000 {
        let text = vec![b'a' + chance.below(26) as u8; 40];
        units.push(Unit { place: 7, value: 40 });
        units.extend(note(2 * n, &text));
    }
    let mut output = vec![0; most_bytes(MOST_UNITS)];
    let bytes = Neighbours::default().pack(&units, &mut output);
    assert!(bytes < 18 * 1_000, "{bytes}");
}

#[test]
fn damaged_pieces_are_refused_or_are_units() {
    let mut chance = Chance(4);
    let mut output = vec![0; most_bytes(MOST_UNITS)];
    let mut back = vec![];
    for _ in 0..400 {
        let units = units_and_notes(&mut chance, 2_000);
        let bytes = Neighbours::default().pack(&units, &mut output);
        for _ in 0..1 + chance.below(4) {
            output[chance.below(bytes as u64) as usize] = chance.below(256) as u8;
        }
        if Unpacking::default().unpack(&output[..bytes], units.len(), &mut back).is_some() {
            assert_eq!(back.len(), units.len());
        }
    }
}

#[test]
fn a_walk_through_a_list_takes_few_bytes() {
    // On the heap, and in a binary at fixed addresses.
    for (start, nodes) in [(1 << 41, 1 << 17), (0x40_4000, 1 << 16)] {
        let mut chance = Chance(1);
        let unit = |address: u64, site: u64, value: u64| Unit { place: address << SITE_BITS | site, value };
        let mut node = start;
        let mut units = vec![];
        for n in 0..5_000 {
            let next = start + 16 * chance.below(nodes);
            units.extend([
                unit(node + 8, 40, n),
                unit(node + 8, 43, n),
                unit(node, 49, next),
                unit(0, 51, 1),
            ]);
            node = next;
        }
        let mut output = vec![0; most_bytes(MOST_UNITS)];
        let bytes = Neighbours::default().pack(&units, &mut output);
        assert!(bytes < 2 * units.len(), "{bytes} for {} from {start:x}", units.len());
    }
}

#[test]
fn a_loop_takes_hardly_any_bytes() {
    let place = |n: u64| ((1 << 20) + ((n % 2) << 16) + n / 2 * 8) << SITE_BITS | (5 + n % 2);
    let mut packer = Packer::default();
    let mut output = vec![0; most_bytes(MOST_UNITS)];
    let units: Vec<Unit> = (0..16_384).map(|n| Unit { place: place(n), value: place(n) % 100 }).collect();
    packer.pack(&units, &mut output);
    let bytes = packer.pack(&units, &mut output);
    assert!(bytes < 200, "{bytes}");
}

#[test]
fn bytes_that_nobody_packed_are_refused_or_are_units() {
    let mut chance = Chance(2);
    let mut back = vec![];
    for _ in 0..20_000 {
        let bytes: Vec<u8> = (0..chance.below(60)).map(|_| chance.below(256) as u8).collect();
        let count = chance.below(40) as usize;
        if unpack(&mut Known::default(), &bytes, count, &mut back).is_some() {
            assert_eq!(back.len(), count);
        }
        assert!(unpack(&mut Known::default(), &bytes, MOST_UNITS + 1, &mut back).is_none());
        if Unpacking::default().unpack(&bytes, count, &mut back).is_some() {
            assert_eq!(back.len(), count);
        }
        assert!(Unpacking::default().unpack(&bytes, MOST_UNITS + 1, &mut back).is_none());
    }
}
