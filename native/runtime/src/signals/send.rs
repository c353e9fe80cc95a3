//! Sending signals: `raise`, `kill`, `pthread_kill` and their relatives.

use super::deliver_due;
use super::information::Information;
use super::mask::bit;
use crate::baton::wait_for;
use crate::next::{interpose, next};
use crate::objects::fail;
use crate::process::end_by_signal;
use crate::runtime::runtime;
use crate::thread::Life;
use crate::want::Want;
use crate::{pids, sys};
use abi::note::Step;
use libc::{c_int, pid_t, pthread_t, sigval};

const SI_TKILL: c_int = -6;

fn is_one(signal: c_int) -> bool {
    (0..super::COUNT as c_int).contains(&signal)
}

/// Sends a signal to a thread of the program, or to the whole of it; an error, or 0.
pub fn send(information: Information, to: Option<usize>) -> c_int {
    let signal = information.signal;
    if !is_one(signal) {
        return libc::EINVAL;
    }
    let runtime = runtime();
    if to.is_some_and(|number| runtime.threads[number].life != Life::Alive) || signal == 0 {
        return 0;
    }
    runtime.step(Step::System { what: format!("send signal {signal}") });
    match signal {
        libc::SIGKILL => end_by_signal(signal),
        libc::SIGSTOP => sys::kill_self(signal),
        // The kernel has to know of it.
        _ if runtime.signals.files & bit(signal) != 0 => {
            sys::kill_self(signal);
            runtime.changed();
        }
        _ => runtime.signal(information, to),
    }
    deliver_due();
    0
}

fn to_thread(handle: pthread_t, information: impl FnOnce() -> Information) -> c_int {
    wait_for(Want::Nothing);
    match runtime().by_handle(handle) {
        Some(number) => send(information(), Some(number)),
        None => libc::ESRCH,
    }
}

/// As the functions that set `errno`.
fn answer(error: c_int) -> c_int {
    if error == 0 { 0 } else { fail(error) }
}

/// `tgkill`, `tkill`: by the number that `gettid` gives.
pub fn to_number(number: pid_t, signal: c_int) -> c_int {
    wait_for(Want::Nothing);
    match pids::thread(number) {
        Some(thread) => answer(send(Information::sent(signal, SI_TKILL, 0), Some(thread))),
        None => fail(libc::ESRCH),
    }
}

interpose! {
    fn raise(signal: c_int) -> c_int {
        wait_for(Want::Nothing);
        let me = runtime().current;
        answer(send(Information::sent(signal, SI_TKILL, 0), Some(me)))
    }
    fn gsignal(signal: c_int) -> c_int { raise(signal) }
    fn pthread_kill(handle: pthread_t, signal: c_int) -> c_int {
        to_thread(handle, || Information::sent(signal, SI_TKILL, 0))
    }
    fn pthread_sigqueue(handle: pthread_t, signal: c_int, value: sigval) -> c_int {
        to_thread(handle, || Information::sent(signal, libc::SI_QUEUE, value.sival_ptr as usize))
    }
    fn kill(process: pid_t, signal: c_int) -> c_int {
        wait_for(Want::Nothing);
        if process == pids::own() {
            return answer(send(Information::sent(signal, libc::SI_USER, 0), None));
        }
        runtime().step(Step::System { what: format!("kill by signal {signal}") });
        let process = pids::real(process);
        let result = next!(kill(process: pid_t, signal: c_int) -> c_int);
        runtime().changed();
        deliver_due();
        result
    }
    fn sigqueue(process: pid_t, signal: c_int, value: sigval) -> c_int {
        wait_for(Want::Nothing);
        if process == pids::own() {
            return answer(send(Information::sent(signal, libc::SI_QUEUE, value.sival_ptr as usize), None));
        }
        let process = pids::real(process);
        next!(sigqueue(process: pid_t, signal: c_int, value: sigval) -> c_int)
    }
    fn tgkill(process: pid_t, thread: pid_t, signal: c_int) -> c_int {
        if process != pids::own() {
            return fail(libc::ESRCH);
        }
        to_number(thread, signal)
    }
}
