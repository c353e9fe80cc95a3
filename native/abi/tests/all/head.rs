//! What is written without serde is what postcard writes.

use abi::Note;
use abi::head::{self, MOST_HEAD};
use abi::note::{Mode, Step};

#[test]
fn heads_are_written_as_postcard_does() {
    let mut room = [0; MOST_HEAD];
    let mut check = |note: Note| {
        let to = room.as_mut_ptr();
        // SAFETY: there is room for a head.
        let (length, content) = unsafe {
            match &note {
                Note::Bytes { site, address, content } => {
                    (head::bytes(to, *site, *address, content.len() as u64), &content[..])
                }
                &Note::Fill { site, address, byte, count } => {
                    (head::fill(to, site, address, byte, count), &[][..])
                }
                _ => (head::lock(to, &note).expect("it fits"), &[][..]),
            }
        };
        assert_eq!(postcard::to_stdvec(&note).expect("it fits"), [&room[..length], content].concat());
    };
    for shift in 0..64 {
        for (site, address) in [(0, 1 << shift), (77, (1 << shift) - 1), (u32::MAX, u64::MAX >> shift)] {
            for count in [0, 3, 127, 128, 300, u32::MAX] {
                check(Note::Bytes { site, address, content: vec![7; count as usize % 1000].into() });
                check(Note::Fill { site, address, byte: 200, count });
                for mode in [Mode::Mutex, Mode::Read, Mode::Write] {
                    check(Note::Step(site, Step::Lock { object: address, mode, depth: count }));
                    check(Note::Step(site, Step::Unlock { object: address, mode, depth: count }));
                }
            }
        }
    }
}
