//! A process that makes many runs (`abi::serve`): it stops before the first code of the program, and forks itself for each.
//!
//! All that does not depend on the plan is done before, once. A run then differs from one of a process of its own in nothing that the program sees:
//! libraries, stacks and the heap lie where they would, numbers of processes are ours (`pids`), files are those that the owner has set
//! back, and the socket is closed.

use crate::next::next;
use crate::page::{self, UNITS};
use crate::sys;
use abi::plan::Plan;
use abi::serve::{Answer, END_RUN, Refusal};
use libc::{c_int, pid_t, pollfd};
use schedule::Strategy;

/// Says that runs can be asked for, and makes them, until the owner has gone. Comes back in each run, with its plan.
pub fn serve(socket: c_int) -> Plan<Strategy> {
    match refusal() {
        Some(why) => {
            answer(socket, Answer::Refused(why));
            sys::exit_group(0);
        }
        None => answer(socket, Answer::Ready),
    }
    let mut request = vec![];
    loop {
        match word(socket) {
            None => sys::exit_group(0),
            // The run that was to be ended was over before.
            Some(END_RUN) => continue,
            Some(length) => request.resize(length as usize, 0),
        }
        if !sys::read_all(socket, &mut request) {
            sys::exit_group(0);
        }
        // What the run before has left there is no part of this one, even if it dies at once.
        page::tell_pending(UNITS, UNITS);
        let server = sys::process();
        match next!(fork() -> pid_t) {
            0 => {
                end_with(server);
                sys::close(socket);
                let Ok(plan) = postcard::from_bytes(&request) else { sys::die("the plan is damaged") };
                return plan;
            }
            // SAFETY: the C library gives the address of the thread's own variable.
            ..0 => answer(socket, Answer::NotForked(unsafe { *libc::__errno_location() })),
            run => answer(socket, wait(socket, run)),
        }
    }
}

/// Why this process cannot be forked for each run.
fn refusal() -> Option<Refusal> {
    let own = handle(sys::process());
    if own < 0 {
        return Some(Refusal::OldKernel);
    }
    sys::close(own as c_int);
    // The fields of this file stand behind the name of the program, which is in brackets; the 18th of them is the number of threads.
    let status = sys::read_file(c"/proc/self/stat").unwrap_or_default();
    let behind_name = status.rsplit(|&byte| byte == b')').next().unwrap_or_default();
    let threads = behind_name.split(|&byte| byte == b' ').nth(18);
    (threads != Some(b"1")).then_some(Refusal::Threads)
}

/// A file that can be polled for the end of a process.
fn handle(process: pid_t) -> isize {
    sys::call(libc::SYS_pidfd_open, [process as usize, 0, 0, 0, 0, 0])
}

/// Ends this process when the other one ends.
fn end_with(server: pid_t) {
    sys::call(libc::SYS_prctl, [libc::PR_SET_PDEATHSIG as usize, libc::SIGKILL as usize, 0, 0, 0, 0]);
    // It may have ended before it was asked for.
    if sys::parent_process() != server {
        sys::exit_group(0);
    }
}

/// Waits for the end of a run. The owner may want it to end before that, and if there is no owner any more, nobody wants it.
fn wait(socket: c_int, run: pid_t) -> Answer {
    let handle = handle(run);
    if handle < 0 {
        end(run);
        return Answer::NotForked(-handle as i32);
    }
    loop {
        let wanted = |fd: c_int| pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut files = [wanted(handle as c_int), wanted(socket)];
        sys::call(libc::SYS_poll, [files.as_mut_ptr() as usize, files.len(), usize::MAX, 0, 0, 0]);
        if files[0].revents != 0 {
            break;
        }
        if files[1].revents != 0 {
            match word(socket) {
                Some(END_RUN) => kill(run),
                // Nobody asks for a run while there is one.
                _ => {
                    end(run);
                    sys::exit_group(0);
                }
            }
        }
    }
    sys::close(handle as c_int);
    Answer::Ended(reap(run))
}

fn kill(run: pid_t) {
    sys::call(libc::SYS_kill, [run as usize, libc::SIGKILL as usize, 0, 0, 0, 0]);
}

fn reap(run: pid_t) -> c_int {
    let mut status: c_int = 0;
    let interrupted = -(libc::EINTR as isize);
    while sys::call(libc::SYS_wait4, [run as usize, &raw mut status as usize, 0, 0, 0, 0]) == interrupted {}
    status
}

fn end(run: pid_t) {
    kill(run);
    reap(run);
}

fn answer(socket: c_int, answer: Answer) {
    // Without an owner there is nobody to tell that it failed.
    let bytes = answer.to_bytes();
    let flags = libc::MSG_NOSIGNAL as usize;
    sys::call(libc::SYS_sendto, [socket as usize, bytes.as_ptr() as usize, bytes.len(), flags, 0, 0]);
}

fn word(socket: c_int) -> Option<u32> {
    let mut bytes = [0; 4];
    sys::read_all(socket, &mut bytes).then(|| u32::from_le_bytes(bytes))
}
