//! The life of the process: its start and its end.

use crate::baton::wait_for;
use crate::calls::descriptor::high;
use crate::calls::file::Inherited;
use crate::log::Log;
use crate::next::{interpose, next};
use crate::page::{map_tail, start_discarding};
use crate::runtime::{self, active, runtime};
use crate::serve::serve;
use crate::signals::{action, mask};
use crate::want::Want;
use crate::{HEAP, affinity, children, fault, module, sys, threads};
use abi::note::{End, Step};
use abi::page;
use abi::plan::{self, Plan};
use core::ffi::{CStr, c_void};
use core::mem::MaybeUninit;
use libc::c_int;
use schedule::Strategy;
use std::ffi::CString;

/// Runs before all code of the program.
extern "C" fn start() {
    begin();
    clear_stack();
}

/// So deep on the stack goes what is done before the program.
const DEPTH: usize = 1 << 15;

/// Clears the stack below the caller. Programs read what they have never written, the bytes between a struct's members for one: that must not tell how
/// the run was started, and what its plan was.
#[inline(never)]
fn clear_stack() {
    let mut below = MaybeUninit::<[u64; DEPTH / 8]>::uninit();
    let start = below.as_mut_ptr().cast::<u64>();
    for n in 0..DEPTH / 8 {
        // SAFETY: it is within the array, where any bytes are a number. The compiler must not leave this out though nobody reads it then.
        unsafe {
            let place = start.add(n);
            // A page that is read only is not copied in a process that was forked.
            if place.read_volatile() != 0 {
                place.write_volatile(0);
            }
        }
    }
}

#[inline(never)]
fn begin() {
    start_discarding();
    let Some(path) = plan_path() else { return };
    let Some(plan) = read_plan(&path) else { return };
    // Neither the program nor what it executes is to see that it runs under a plan.
    if let Ok(variable) = CString::new(plan::VARIABLE) {
        // SAFETY: the name ends with a zero byte, and there is no other thread yet.
        unsafe { libc::unsetenv(variable.as_ptr()) };
    }
    let processors = affinity::all();
    let Ok(log_path) = CString::new(plan.log.as_str()) else { sys::die("the path of the log is none") };
    let Ok(tail_path) = CString::new(format!("{}{}", plan.log, page::TAIL_SUFFIX)) else {
        sys::die("the path of the log is none")
    };
    let Some(file) = sys::open(&log_path, libc::O_WRONLY | libc::O_APPEND) else {
        sys::die("the log's file cannot be opened")
    };
    let Some(tail) = sys::open(&tail_path, libc::O_RDWR | libc::O_CREAT) else {
        sys::die("the log's tail cannot be made")
    };
    let file = high(file);
    if !map_tail(tail) {
        sys::die("the log's tail cannot be mapped: no room")
    }
    sys::close(tail);
    threads::make_key();
    let socket = plan.serve.map(high);
    let inherited = Inherited::find();
    let plan = match socket {
        Some(socket) => serve(socket),
        None => plan,
    };
    HEAP.begin_run();
    affinity::pin();
    let Some(log) = Log::new(file, &plan.logging, plan.most_bytes) else {
        sys::die("the log cannot be kept: there is no address space for it")
    };
    module::begin_behind(plan.modules.iter().map(|module| module.first.saturating_add(module.sites)).max());
    runtime::start(plan, log, processors, inherited);
    threads::arm();
    fault::prepare();
    children::prepare();
    // Registered before everything else, so called last, behind all destructors; it is told the status.
    // SAFETY: the function has the type that is asked for.
    unsafe { on_exit(exiting, core::ptr::null_mut()) };
}

unsafe extern "C" {
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

extern "C" fn exiting(status: c_int, _: *mut c_void) {
    if active() {
        runtime().end(End::Exit { status });
    }
}

/// The value of the environment variable that names the plan. The C library may not know its environment yet.
fn plan_path() -> Option<CString> {
    let environment = sys::read_file(c"/proc/self/environ")?;
    let name = format!("{}=", plan::VARIABLE);
    let value = environment.split(|&byte| byte == 0).find_map(|entry| entry.strip_prefix(name.as_bytes()))?;
    CString::new(value).ok()
}

/// The plan, if this process is the first to take it.
fn read_plan(path: &CStr) -> Option<Plan<Strategy>> {
    let Some(bytes) = sys::read_file(path) else { sys::die("the plan cannot be read") };
    // The version comes first in every version.
    match postcard::take_from_bytes::<u32>(&bytes) {
        Ok((abi::VERSION, _)) => {}
        _ => sys::die("this program was compiled by another version of Threadbare: compile it again"),
    }
    let Ok(plan) = postcard::from_bytes::<Plan<Strategy>>(&bytes) else { sys::die("the plan is damaged") };
    let taken = CString::new(plan.taken.as_str()).ok()?;
    let file = sys::open(&taken, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL)?;
    // Who was started through another program wants to know who took it.
    sys::write_all(file, &sys::read_link(c"/proc/self/exe"));
    sys::close(file);
    Some(plan)
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

/// A signal ends the process: noted, then left to the kernel.
pub fn end_by_signal(signal: c_int) -> ! {
    runtime().step(Step::Fault { signal, address: 0 });
    runtime().end(End::Signal(signal));
    die_by(signal)
}

/// Lets the kernel end the process by a signal.
pub fn die_by(signal: c_int) -> ! {
    action::restore_default(signal);
    let set = mask::bit(signal);
    let arguments = [libc::SIG_UNBLOCK as usize, &raw const set as usize, 0, size_of::<mask::Set>(), 0, 0];
    sys::call(libc::SYS_rt_sigprocmask, arguments);
    sys::kill_self(signal);
    sys::exit_group(128 + signal)
}

/// The program does what cannot be taken over: says what, and ends the process.
pub fn unsupported(what: &str) -> ! {
    if active() {
        runtime().end(End::Unsupported(what.into()));
    }
    sys::die(&format!("the program uses {what}"))
}

interpose! {
    fn exit(status: c_int) -> ! {
        wait_for(Want::Nothing);
        next!(exit(status: c_int) -> !)
    }
    fn _exit(status: c_int) -> ! {
        wait_for(Want::Nothing);
        runtime().end(End::Exit { status });
        sys::exit_group(status)
    }
    fn _Exit(status: c_int) -> ! {
        _exit(status)
    }
    fn quick_exit(status: c_int) -> ! {
        wait_for(Want::Nothing);
        runtime().end(End::Exit { status });
        next!(quick_exit(status: c_int) -> !)
    }
    fn abort() -> ! {
        wait_for(Want::Nothing);
        next!(abort() -> !)
    }
}
