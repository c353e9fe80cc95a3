//! A small compiled program, and logs of it written by hand.

use super::{link_all, module};
use abi::note::{End, Note, Step};
use abi::unit::{SITE_BITS, Unit};
use native::Linked;
use trace::{Logging, Origin};

/// `main` forks `worker` twice and allocates a node; both work on `acct` and `head`.
pub const PROGRAM: &str = r#"file !0 = "src/bank.c"
shape #0 = int 4 signed
shape #1 = record "account" 8 {0: #0 "balance", 4: #0 "open"}
shape #2 = array 3 #1
shape #3 = pointer #4
shape #4 = record "node" 16 {0: #3 "next", 8: #0 "value"}
shape #5 = array 4 #0
global @acct #2 = zero  !0:1:1
global @head #3 = zero  !0:2:1
global @own #0 thread_local = zero  !0:3:1

function $main(%0:argc i32, %1:argv ptr) -> (i32) {  !0:80:1
b0:
  %2 = call ptr external "malloc"(16i64)  !0:81:3
  store %2, @head  !0:82:3
  %3:copy = stack_alloc ptr #5, 1i32  !0:83:3
  %4 = call i32 external "pthread_create"(%3, null, $worker, null)  !0:88:3
  %5 = load ptr @head  !0:89:3
  %6 = address ptr %5 + 8
  %7 = rmw add i32 %6, 5i32 seq_cst  !0:90:3
  %8, %9 = cmpxchg (i32, i1) %6, 5i32, 6i32 seq_cst acquire  !0:91:3
  branch %9, b1, b2  !0:92:3
b1:
  fence seq_cst  !0:93:3
  memcpy %3, @acct, 8i64  !0:94:3
  return 0i32  !0:95:3
b2:
  return 1i32  !0:96:3
}

function $worker(%0:argument ptr) -> (ptr) {  !0:10:1
b0:
  %1 = address ptr @acct + 8
  %2:old = load i32 %1  !0:11:3
  %3 = add i32 %2, 1i32
  store %3, %1  !0:12:3
  store 7i32, @own  !0:13:3
  return null  !0:14:1
}
"#;

/// Where things lie in these runs.
pub const ACCT: u64 = 0x5555_5555_8040;
pub const HEAD: u64 = 0x5555_5555_8060;
pub const WORKER: u64 = 0x5555_5555_5200;
pub const NODE: u64 = 0x10_0000_0100;
pub const STACK: u64 = 0x7fff_ffff_d000;
pub const MAIN: u64 = 1;
/// The codes of the first two threads that `main` forks.
pub const FIRST: u64 = 0b11;
pub const SECOND: u64 = 0b1010;

/// The program.
pub fn program() -> Linked {
    link_all(&[module(PROGRAM, &[], &[])]).expect("a program")
}

pub fn origin(linked: &Linked) -> Origin {
    Origin {
        subject: "bank".to_owned(),
        fingerprint: linked.program.fingerprint(),
        strategy: "run-to-block".to_owned(),
        logging: Logging::Everything,
    }
}

/// A log that is being written. Sites are those of the module, from 0.
#[derive(Clone, Default)]
pub struct Log {
    pub bytes: Vec<u8>,
    n: u64,
    done: std::collections::HashMap<u64, u64>,
    thread: u64,
}

impl Log {
    /// The beginning: the module, and `main`.
    pub fn new(linked: &Linked) -> Log {
        let mut log = Log { thread: MAIN, ..Log::default() };
        let module = &linked.modules[0];
        log.note(Note::Module {
            id: module.id,
            first: module.first,
            sites: module.sites,
            globals: vec![ACCT, HEAD, 0],
            functions: vec![0x5555_5555_5100, WORKER],
        });
        log.note(Note::Thread { thread: MAIN, parent: None, start: 0, stack: (STACK - 0x8000, 0x9000) });
        log
    }

    pub fn unit(&mut self, site: u32, address: u64, value: u64) -> &mut Log {
        self.n += 1;
        let unit = Unit { place: address << SITE_BITS | u64::from(site + 1), value };
        self.bytes.extend(unit.place.to_le_bytes());
        self.bytes.extend(unit.value.to_le_bytes());
        self
    }

    pub fn note(&mut self, note: Note) -> &mut Log {
        self.n += u64::from(note.is_event());
        let encoded = postcard::to_stdvec(&note).expect("memory");
        self.bytes.extend((self.n << SITE_BITS).to_le_bytes());
        self.bytes.extend((encoded.len() as u64).to_le_bytes());
        self.bytes.extend(&encoded);
        self.bytes.resize(self.bytes.len().next_multiple_of(16), 0);
        self
    }

    pub fn step(&mut self, site: u32, step: Step) -> &mut Log {
        self.note(Note::Step(site + 1, step))
    }

    pub fn switch(&mut self, to: u64, enabled: &[u64]) -> &mut Log {
        let done = self.done.get(&to).copied().unwrap_or(0);
        self.note(Note::Switch { to, done, enabled: enabled.to_vec() });
        self.done.insert(self.thread, self.n);
        (self.thread, self.n) = (to, done);
        self
    }

    pub fn exit(&mut self, status: i32) -> &mut Log {
        self.done.insert(self.thread, self.n);
        let done = self.done.iter().map(|(&thread, &n)| (thread, n)).collect();
        self.note(Note::End { end: End::Exit { status }, done, hand_overs: 3 })
    }
}

/// The sites of the program, in the module's numbers.
pub mod site {
    pub const MALLOC: u32 = 0;
    pub const STORE_HEAD: u32 = 1;
    pub const COPY: u32 = 2;
    pub const CREATE: u32 = 3;
    pub const LOAD_HEAD: u32 = 4;
    pub const UPDATE: u32 = 6;
    pub const EXCHANGE: u32 = 7;
    pub const BRANCH: u32 = 8;
    pub const FENCE: u32 = 9;
    pub const MEMCPY: u32 = 10;
    pub const WORKER: u32 = 13;
    pub const LOAD_ACCT: u32 = 14;
    pub const STORE_ACCT: u32 = 16;
    pub const STORE_OWN: u32 = 17;
}

/// A whole run.
pub fn sample(linked: &Linked) -> Log {
    use abi::unit::{ENTRY, STACK as STACK_MARK};
    let mut log = Log::new(linked);
    log.unit(0, ENTRY, 1).unit(0, ENTRY, 0x7fff_ffff_e000);
    log.step(site::MALLOC, Step::Alloc { address: NODE, bytes: 16 }).unit(site::MALLOC, 0, NODE);
    log.unit(site::STORE_HEAD, HEAD, NODE);
    log.unit(site::COPY, STACK_MARK, STACK - 64);
    log.note(Note::Thread {
        thread: FIRST,
        parent: Some(MAIN),
        start: WORKER,
        stack: (0x20_0000_0000, 0x8000),
    });
    log.step(site::CREATE, Step::Fork { child: FIRST }).unit(site::CREATE, 0, 0);
    log.unit(site::LOAD_HEAD, HEAD, NODE);
    log.switch(FIRST, &[MAIN, FIRST]);
    log.unit(site::WORKER, ENTRY, 0).unit(site::LOAD_ACCT, ACCT + 8, 0);
    log.unit(site::STORE_ACCT, ACCT + 8, 1).unit(site::STORE_OWN, 0x20_0000_7f00, 7);
    log.step(site::STORE_OWN, Step::End);
    log.switch(MAIN, &[MAIN]);
    log.unit(site::UPDATE, NODE + 8, 0).unit(site::UPDATE, NODE + 8, 5);
    log.unit(site::EXCHANGE, NODE + 8, 5).unit(site::EXCHANGE, NODE + 8, 5).unit(site::EXCHANGE, NODE + 8, 6);
    log.unit(site::BRANCH, 0, 0).unit(site::FENCE, 0, 0);
    let bytes = |address| Note::Bytes { site: site::MEMCPY + 1, address, content: Box::new([0; 8]) };
    log.note(bytes(ACCT)).note(bytes(STACK - 64));
    log.exit(0);
    log
}
