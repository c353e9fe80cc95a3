//! Pieces of memory that a call reads or writes one after the other.

use libc::iovec;

/// The pieces that are left to do.
pub struct Parts {
    parts: Vec<iovec>,
}

impl Parts {
    /// One piece.
    pub fn one(address: usize, bytes: usize) -> Parts {
        Parts { parts: vec![iovec { iov_base: address as *mut _, iov_len: bytes }] }
    }

    /// The pieces of a list of the program's.
    pub fn listed(list: *const iovec, count: usize) -> Parts {
        if list.is_null() || count == 0 {
            return Parts { parts: vec![] };
        }
        // SAFETY: the caller of the C function gives so many pieces.
        Parts { parts: unsafe { core::slice::from_raw_parts(list, count) }.to_vec() }
    }

    /// How many bytes they have.
    pub fn bytes(&self) -> usize {
        self.parts.iter().fold(0, |bytes, part| bytes.saturating_add(part.iov_len))
    }

    /// So many bytes at their start are done.
    pub fn advance(&mut self, mut bytes: usize) {
        for part in &mut self.parts {
            let here = bytes.min(part.iov_len);
            part.iov_base = part.iov_base.wrapping_byte_add(here);
            part.iov_len -= here;
            bytes -= here;
        }
        self.parts.retain(|part| part.iov_len > 0);
    }

    /// The first so many bytes of them.
    pub fn first(&self, bytes: usize) -> Parts {
        let mut left = bytes;
        let mut parts = vec![];
        for part in &self.parts {
            let here = left.min(part.iov_len);
            if here > 0 {
                parts.push(iovec { iov_base: part.iov_base, iov_len: here });
            }
            left -= here;
        }
        Parts { parts }
    }

    /// The list for the kernel: address and length.
    pub fn list(&self) -> (usize, usize) {
        (self.parts.as_ptr() as usize, self.parts.len())
    }

    /// What stands in the first so many bytes.
    pub fn content(&self, bytes: usize) -> Vec<u8> {
        let mut content = Vec::with_capacity(bytes);
        for part in self.first(bytes).parts {
            // SAFETY: a call has just filled these bytes.
            content.extend_from_slice(unsafe {
                core::slice::from_raw_parts(part.iov_base.cast_const().cast::<u8>(), part.iov_len)
            });
        }
        content
    }
}
