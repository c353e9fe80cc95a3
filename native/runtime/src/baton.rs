//! The baton: how a thread waits for what it wants, and how the baton goes from one thread to the next.
//!
//! One thread has the baton; all others sleep. A thread that comes to a synchronisation function says what it wants ([`wait_for`]);
//! if it has it, and its turn is not over, it goes on at once. Otherwise the scheduler is asked (`turns`), and the baton handed on. So does one
//! that comes to the end of its turn in instrumented code ([`preempt`]).

use crate::runtime::{hand_to, runtime};
use crate::signals::{self, arrive};
use crate::thread::{Interrupted, Life, Thread};
use crate::want::{Readiness, Want};
use crate::{cancel, page};

/// How a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Got {
    /// With what was wanted.
    It,
    /// The time was over, or there was no reason (for a signal only).
    Nothing,
    /// Somebody asked to cancel the thread.
    Cancelled,
    /// A handler of a signal ran, after which the call is to be made again, or not.
    Interrupted {
        /// Whether all handlers were installed with `SA_RESTART`.
        restart: bool,
    },
}

/// The running thread stands before its next event and wants this. Returns when it is its turn.
pub fn wait_for(want: Want) -> Got {
    let runtime = runtime();
    let me = runtime.current;
    if runtime.over {
        return Got::It;
    }
    let waits_outside = matches!(want, Want::Io(..));
    // The usual case: the turn goes on.
    let thread = &runtime.threads[me];
    let free =
        runtime.exclusive.is_none() && !thread.cancel.requested && !thread.signals.due && !arrive::some();
    if free && !waits_outside && runtime.turn_left() > 0 && runtime.has(me, &want) {
        return Got::It;
    }
    let thread = &mut runtime.threads[me];
    thread.site = page::call_site();
    thread.want = want;
    if waits_outside {
        runtime.look_at_own(true);
    }
    loop {
        let runtime = self::runtime();
        runtime.threads[me].expired = false;
        arrive::take_in();
        let stays = runtime.turn_left() > 0 || runtime.threads[me].unwilling > 0;
        if !(stays && runtime.readiness(me) == Readiness::Ready) {
            switch();
        }
        let runtime = self::runtime();
        if runtime.threads[me].signals.due {
            match interrupt() {
                Some(got) => return got,
                None => continue,
            }
        }
        if waits_outside {
            // Another thread, or process, may have been faster.
            runtime.look_at_own(false);
        }
        let thread = &runtime.threads[me];
        let over = thread.want.deadline().is_some_and(|at| at <= runtime.clock.now());
        let got = match () {
            () if runtime.is_cancelled(me) => Got::Cancelled,
            () if thread.expired => Got::Nothing,
            () if runtime.has_what_it_wants(me) || matches!(thread.want, Want::Others) => Got::It,
            // A deadline that has passed ends the wait as well.
            () if over || !waits_outside => Got::Nothing,
            () => continue,
        };
        runtime.threads[me].want = Want::Nothing;
        return got;
    }
}

/// Runs handlers of signals in the middle of a wait. `None` if the wait goes on.
fn interrupt() -> Option<Got> {
    let me = runtime().current;
    let frame = &raw const me as usize;
    let thread = runtime().me();
    // Waits that a handler left by a jump are above us no more.
    thread.interrupted.retain(|outer| outer.frame > frame);
    let (want, wake, site) =
        (core::mem::replace(&mut thread.want, Want::Nothing), thread.wake.take(), thread.site);
    thread.interrupted.push(Interrupted { want, wake, frame });
    let restart = signals::deliver();
    let thread = runtime().me();
    thread.site = site;
    let Interrupted { want, wake, .. } = thread.interrupted.pop()?;
    thread.wake = wake;
    if let (true, Some(restart)) = (want.ends_by_handler() && wake.is_none(), restart) {
        thread.want = Want::Nothing;
        return Some(Got::Interrupted { restart });
    }
    thread.want = want;
    None
}

/// Asks the scheduler before the next event of instrumented code. Called when the cursor has reached the end.
pub fn preempt() {
    let runtime = runtime();
    let me = runtime.current;
    runtime.settle();
    runtime.stop_for_debugger();
    arrive::take_in();
    if runtime.over || (runtime.turn_left() > 0 || runtime.threads[me].unwilling > 0) {
        runtime.ask();
    } else {
        runtime.threads[me].want = Want::Nothing;
        runtime.threads[me].site = runtime.last_site;
        switch();
    }
    let runtime = self::runtime();
    if runtime.threads[me].signals.due {
        signals::deliver();
    }
    if self::runtime().is_cancelled(me) {
        cancel::act();
    }
}

/// Finds out who runs next, and hands the baton on; returns when it is the caller's turn again.
pub fn switch() {
    let runtime = runtime();
    let me = runtime.current;
    let next = runtime.choose();
    if next != me {
        let ended = runtime.threads[me].life != Life::Alive;
        let site = page::call_site();
        let (from, to): (*const Thread, *const Thread) = (&*runtime.threads[me], &*runtime.threads[next]);
        runtime.hand_overs += 1;
        runtime.current = next;
        hand_to(runtime.threads[next].pointer);
        // SAFETY: threads are boxed and never removed. From here on the state belongs to the other thread.
        unsafe {
            (*to).give();
            if ended {
                return;
            }
            (*from).take();
        }
        page::set_call_site(site);
    }
    self::runtime().ask();
}
