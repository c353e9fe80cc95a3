//! Modules make themselves known when the program starts, or when a library with them is loaded.

use crate::runtime::{active, has_plan, runtime};
use crate::sys;
use abi::page::Registration;
use abi::unit::MOST_SITES;
use abi::{Note, VERSION};
use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, Ordering};
use libc::c_int;

/// The number of the next module's first site, where the plan does not say it.
static NEXT: AtomicU32 = AtomicU32::new(1);

/// Numbers of modules that the plan does not name begin here, behind those of the ones that it names.
pub fn begin_behind(named: Option<u32>) {
    NEXT.fetch_max(named.unwrap_or(1), Ordering::Relaxed);
}

/// Makes a module known; gives the number of its first site.
///
/// # Safety
/// `module` is what the compiler pass wrote.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tb_register(module: *const Registration) -> u64 {
    // SAFETY: the caller's promise.
    let module = unsafe { &*module };
    if module.version != VERSION {
        sys::die("this program was compiled by another version of Threadbare: compile it again");
    }
    if !active() {
        // Without a plan nobody reads the log; the number only has to be valid.
        return 1;
    }
    let known = runtime().plan.modules.iter().find(|known| known.id == module.id);
    let first =
        known.map(|known| known.first).unwrap_or_else(|| NEXT.fetch_add(module.sites, Ordering::Relaxed));
    if first.saturating_add(module.sites) > MOST_SITES && has_plan() {
        sys::die("the program is too large: it has more than 4 million instructions");
    }
    remember_object(core::ptr::from_ref(module) as usize);
    // SAFETY: the pass wrote the counts that belong to the tables.
    let (globals, functions) = unsafe {
        (addresses(module.globals, module.global_count), addresses(module.functions, module.function_count))
    };
    runtime().note(&Note::Module { id: module.id, first, sites: module.sites, globals, functions });
    u64::from(first)
}

/// # Safety
/// There are so many addresses.
unsafe fn addresses(table: *const *const u8, count: u64) -> Vec<u64> {
    if count == 0 {
        return vec![];
    }
    // SAFETY: the caller's promise.
    let table = unsafe { core::slice::from_raw_parts(table, count as usize) };
    table.iter().map(|&address| address as u64).collect()
}

/// Remembers the object (the program, or a library) that an address is in.
fn remember_object(address: usize) {
    if is_instrumented(address) {
        return;
    }
    let mut wanted: (usize, Option<(usize, usize)>) = (address, None);
    // SAFETY: the function has the type that is asked for, and is given what it expects.
    unsafe { libc::dl_iterate_phdr(Some(is_in_object), (&raw mut wanted).cast()) };
    runtime().objects.extend(wanted.1);
}

/// Looks whether the address of `wanted` is in an object, and leaves its start and end there.
unsafe extern "C" fn is_in_object(object: *mut libc::dl_phdr_info, _: usize, wanted: *mut c_void) -> c_int {
    // SAFETY: the loader gives an object with so many segments, `remember_object` the rest.
    unsafe {
        let wanted = &mut *wanted.cast::<(usize, Option<(usize, usize)>)>();
        let base = (*object).dlpi_addr as usize;
        let segments = core::slice::from_raw_parts((*object).dlpi_phdr, (*object).dlpi_phnum as usize);
        let loaded = segments.iter().filter(|segment| segment.p_type == libc::PT_LOAD);
        let places = loaded.map(|segment| {
            let start = base + segment.p_vaddr as usize;
            (start, start + segment.p_memsz as usize)
        });
        let Some((start, end)) = places.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1))) else {
            return 0;
        };
        if (start..end).contains(&wanted.0) {
            wanted.1 = Some((start, end));
        }
        c_int::from(wanted.1.is_some())
    }
}

/// Whether an address is in a program or library that has an instrumented module.
pub fn is_instrumented(address: usize) -> bool {
    runtime().objects.iter().any(|&(start, end)| (start..end).contains(&address))
}
