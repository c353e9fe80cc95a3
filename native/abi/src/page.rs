//! The words that instrumented code shares with the runtime, at a fixed address, and the buffer behind them.
//!
//! A fixed address below 2 GiB is one instruction away from any code, position-independent or not. The runtime maps
//! the page before any instrumented code runs. Only the thread that has the baton runs, so nothing here is atomic.
//!
//! With a plan, page and buffers are a mapping of the *tail*, a file beside the log: what has not been written to the log yet is there, even
//! if the process is killed. It is the bytes between the addresses [`PENDING`] and [`PENDING_END`].

/// The address of the page.
pub const ADDRESS: u64 = 0x7f00_0000;

/// The size of the page.
pub const BYTES: usize = 4096;

/// What the path of the tail has behind the path of the log.
pub const TAIL_SUFFIX: &str = ".tail";

/// The size of each of the two buffers behind the page, little enough to leave most of the cache to the program: that of instrumented code, and that of what is kept of it where not all is.
pub const BUFFER: usize = 1 << 16;

/// The size of all that is mapped at [`ADDRESS`], and of the tail: the page, and the two buffers with their slack.
pub const MAPPED: usize = BYTES + 2 * (BUFFER + SLACK);

/// Where the next unit goes: an address, 16-byte aligned.
pub const CURSOR: u64 = ADDRESS;

/// At or behind this address of the cursor, instrumented code calls `__tb_slow` *before* its next event: the thread may have
/// to give the baton away, or the buffer is full. The strategy puts it where it wants to be asked.
pub const END: u64 = ADDRESS + 8;

/// At or behind this address of the cursor, instrumented code calls `__tb_full` before it appends a unit that belongs to an
/// event already done (the result of a call): the buffer is emptied, nobody else gets the baton.
pub const LIMIT: u64 = ADDRESS + 16;

/// The site of the call that instrumented code is about to make, for calls that may reach the runtime; or of the division, which may
/// be a fault.
pub const SITE: u64 = ADDRESS + 24;

/// The address from which on bytes are not in the log yet.
pub const PENDING: u64 = ADDRESS + 64;

/// The address up to which bytes are not in the log yet; 0 if the cursor is.
pub const PENDING_END: u64 = ADDRESS + 72;

/// The kernel's number of the process that writes here.
pub const PROCESS: u64 = ADDRESS + 80;

/// How many bytes behind `LIMIT` may still be written without a check.
pub const SLACK: usize = 1 << 16;

/// The functions of the runtime that instrumented code calls.
pub mod function {
    /// `void __tb_slow(void)`, preserving all registers: asks the scheduler, empties the buffer if it is full.
    pub const SLOW: &str = "__tb_slow";
    /// `void __tb_full(void)`, preserving all registers: empties the buffer.
    pub const FULL: &str = "__tb_full";
    /// `void __tb_bytes(uint64_t site, const void *address, uint64_t bytes)`, preserving most registers: the bytes there have
    /// just been written, or are read next, by `site`. Counts as one event.
    pub const BYTES: &str = "__tb_bytes";
    /// `void __tb_touched(uint64_t site, uint64_t model, uint64_t a, uint64_t b, uint64_t c, uint64_t result)`: a function of
    /// [`crate::model`] was called with these arguments; each piece of memory that it has read counts as one event.
    pub const TOUCHED: &str = "__tb_touched";
    /// `uint64_t __tb_register(const struct registration *)`: makes a module known, gives the number of its first site.
    pub const REGISTER: &str = "__tb_register";
}

/// What each module hands to `__tb_register` from a constructor that runs before all others of its object.
#[repr(C)]
#[derive(Debug)]
pub struct Registration {
    /// [`crate::VERSION`] of the pass.
    pub version: u32,
    /// How many sites the module's program has.
    pub sites: u32,
    /// The module's [`Header::id`](crate::Header).
    pub id: u64,
    /// How many entries `globals` has.
    pub global_count: u64,
    /// The address of each global of the module's program, null where there is none (thread-local, constant, not defined here).
    pub globals: *const *const u8,
    /// How many entries `functions` has.
    pub function_count: u64,
    /// The address of each function of the module's program, null where nobody takes it.
    pub functions: *const *const u8,
}
