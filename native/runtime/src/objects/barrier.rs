//! Barriers: `pthread_barrier_*`.
//!
//! The last thread to arrive lets the others go by changing what they want: they do not look at the object again, whose memory
//! the first one to leave may already have given back.

use crate::baton::wait_for;
use crate::next::interpose;
use crate::runtime::runtime;
use crate::want::Want;
use abi::note::Step;
use libc::{c_int, c_uint};

/// The state, in the C library's type.
#[repr(C)]
struct Barrier {
    parties: u32,
    arrived: u32,
    round: u64,
}

/// The barrier at an address: the caller of the C function says that there is one, and only the baton's holder runs.
fn at(object: usize) -> &'static mut Barrier {
    // SAFETY: see above.
    unsafe { &mut *(object as *mut Barrier) }
}

/// How many have come, and how many must.
pub fn counts(object: usize) -> (u64, u64) {
    let barrier = at(object);
    (u64::from(barrier.arrived), u64::from(barrier.parties))
}

interpose! {
    fn pthread_barrier_init(object: usize, _attributes: usize, parties: c_uint) -> c_int {
        if parties == 0 {
            return libc::EINVAL;
        }
        *at(object) = Barrier { parties, arrived: 0, round: 0 };
        0
    }
    fn pthread_barrier_destroy(_object: usize) -> c_int { 0 }
    fn pthread_barrier_wait(object: usize) -> c_int {
        wait_for(Want::Nothing);
        let barrier = at(object);
        let round = barrier.round;
        barrier.arrived += 1;
        let last = barrier.arrived >= barrier.parties;
        runtime().step(Step::BarrierArrive { barrier: object as u64, round });
        if last {
            barrier.arrived = 0;
            barrier.round += 1;
            let wants = |want: &mut Want| matches!(want, Want::Round(at) if *at == object);
            for thread in &mut runtime().threads {
                let interrupted = thread.interrupted.iter_mut().map(|outer| &mut outer.want);
                for want in interrupted.chain([&mut thread.want]) {
                    if wants(want) {
                        *want = Want::Nothing;
                    }
                }
            }
        }
        wait_for(if last { Want::Nothing } else { Want::Round(object) });
        runtime().step(Step::BarrierLeave { barrier: object as u64, round });
        if last { libc::PTHREAD_BARRIER_SERIAL_THREAD } else { 0 }
    }
}
