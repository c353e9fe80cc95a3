//! Blocks: twenty bytes of header, then a compressed payload.

use super::MOST_BLOCK_BYTES;

/// What a block holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// The origin of the trace.
    Origin,
    /// Records.
    Records,
    /// The totals; nothing follows.
    End,
}

impl Kind {
    fn code(self) -> u32 {
        match self {
            Kind::Origin => 1,
            Kind::Records => 2,
            Kind::End => 3,
        }
    }

    fn from_code(code: u32) -> Option<Kind> {
        [Kind::Origin, Kind::Records, Kind::End].into_iter().find(|kind| kind.code() == code)
    }
}

/// Kind, records, bytes before and after compression, checksum: four bytes each, little-endian.
pub(super) const HEADER_BYTES: usize = 20;

/// A block that has been found whole; its payload is still compressed.
pub(super) struct Block<'b> {
    pub(super) kind: Kind,
    pub(super) records: u32,
    pub(super) unpacked: usize,
    payload: &'b [u8],
}

/// Why there is no block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NoBlock {
    /// The bytes end before it does.
    Cut,
    /// Its checksum or a length is wrong.
    Damaged,
}

/// Appends a block to `out`; `payload` is compressed already.
pub(super) fn append(out: &mut Vec<u8>, kind: Kind, records: u32, unpacked: usize, payload: &[u8]) {
    let start = out.len();
    for field in [kind.code(), records, unpacked as u32, payload.len() as u32] {
        out.extend_from_slice(&field.to_le_bytes());
    }
    let checksum = checksum(&out[start..], payload);
    out.extend_from_slice(&checksum.to_le_bytes());
    out.extend_from_slice(payload);
}

fn checksum(fields: &[u8], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(fields);
    hasher.update(payload);
    hasher.finalize()
}

/// Takes the block at the beginning of `bytes`, and what is behind it. Nothing is allocated.
pub(super) fn take(bytes: &[u8]) -> Result<(Block<'_>, &[u8]), NoBlock> {
    let (header, rest) = bytes.split_first_chunk::<HEADER_BYTES>().ok_or(NoBlock::Cut)?;
    let field = |index: usize| {
        let mut field = [0; 4];
        field.copy_from_slice(&header[4 * index..4 * index + 4]);
        u32::from_le_bytes(field)
    };
    let (unpacked, packed) = (field(2) as usize, field(3) as usize);
    let kind = Kind::from_code(field(0)).ok_or(NoBlock::Damaged)?;
    if unpacked > MOST_BLOCK_BYTES {
        return Err(NoBlock::Damaged);
    }
    let (payload, rest) = rest.split_at_checked(packed).ok_or(NoBlock::Cut)?;
    if checksum(&header[..16], payload) != field(4) {
        return Err(NoBlock::Damaged);
    }
    Ok((Block { kind, records: field(1), unpacked, payload }, rest))
}

/// Unpacks payloads, with one buffer for all.
pub(super) struct Unpacker {
    decompressor: zstd::bulk::Decompressor<'static>,
    buffer: Vec<u8>,
}

impl Unpacker {
    pub(super) fn new() -> std::io::Result<Unpacker> {
        Ok(Unpacker { decompressor: zstd::bulk::Decompressor::new()?, buffer: vec![] })
    }

    /// The payload of a block: exactly as long as its header says.
    pub(super) fn unpack(&mut self, block: &Block<'_>) -> Result<&[u8], NoBlock> {
        self.buffer.clear();
        self.buffer.reserve(block.unpacked);
        // Writes no further than the capacity, which `take` has bounded.
        self.decompressor
            .decompress_to_buffer(block.payload, &mut self.buffer)
            .map_err(|_| NoBlock::Damaged)?;
        if self.buffer.len() == block.unpacked { Ok(&self.buffer) } else { Err(NoBlock::Damaged) }
    }
}
