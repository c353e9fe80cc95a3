//! The life of the process: its start, its end, and its children.

use crate::log::Log;
use crate::next::{interpose, next};
use crate::page::start_discarding;
use crate::runtime::{self, active, runtime, wait_for};
use crate::want::Want;
use crate::{fault, module, sys, threads};
use abi::note::{End, Step};
use abi::page;
use abi::plan::{self, Plan};
use core::ffi::{CStr, c_void};
use core::mem::size_of_val;
use libc::{c_int, pid_t};
use std::ffi::CString;
use subject::Strategy;

/// Runs before all code of the program.
extern "C" fn start() {
    start_discarding();
    let Some(path) = plan_path() else { return };
    let Some(plan) = read_plan(&path) else { return };
    pin();
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
    let Some(log) = Log::new(high(file), tail, &plan.logging, plan.most_bytes) else {
        sys::die("the log's tail cannot be mapped: no room, or no address space")
    };
    sys::close(tail);
    module::begin_behind(1);
    runtime::start(plan, log);
    threads::prepare();
    fault::prepare();
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

/// Moves a file to a number that the program's own files do not come to.
fn high(file: i32) -> i32 {
    let moved = sys::call(libc::SYS_fcntl, [file as usize, libc::F_DUPFD_CLOEXEC as usize, 900, 0, 0, 0]);
    match i32::try_from(moved) {
        Ok(moved) if moved >= 0 => {
            sys::close(file);
            moved
        }
        _ => file,
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
    sys::close(file);
    Some(plan)
}

/// Keeps the process on the processor that it runs on: handing the baton on is five times as fast then.
fn pin() {
    // SAFETY: the function has no preconditions, and all zeros are an empty set.
    unsafe {
        let mut set: libc::cpu_set_t = core::mem::zeroed();
        libc::CPU_SET(libc::sched_getcpu().max(0) as usize, &mut set);
        let set = &raw const set;
        sys::call(libc::SYS_sched_setaffinity, [0, size_of_val(&*set), set as usize, 0, 0, 0]);
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

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
    fn fork() -> pid_t {
        wait_for(Want::Nothing);
        runtime().step(Step::System { what: "fork".into() });
        let child = next!(fork() -> pid_t);
        if child == 0 {
            runtime().become_child();
        }
        child
    }
}
