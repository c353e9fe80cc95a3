//! The functions of the C library that the runtime's own stand before.

use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

unsafe extern "C" {
    fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
}

/// Calls the C library's own function of a name.
macro_rules! next {
    ($name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?) => {{
        static NEXT: $crate::next::Next = $crate::next::Next::new(
            // SAFETY: a name without zero bytes, and one at its end.
            unsafe { ::core::ffi::CStr::from_bytes_with_nul_unchecked(concat!(stringify!($name), "\0").as_bytes()) }
        );
        // SAFETY: the C library's function has this type.
        unsafe {
            let function: unsafe extern "C-unwind" fn($($type),*) $(-> $result)? = ::core::mem::transmute(NEXT.address());
            function($($argument),*)
        }
    }};
}
/// The next definition of a function, looked up at its first use.
pub struct Next {
    name: &'static CStr,
    address: AtomicUsize,
}

impl Next {
    /// The function of this name.
    pub const fn new(name: &'static CStr) -> Next {
        Next { name, address: AtomicUsize::new(0) }
    }

    /// Its address.
    pub fn address(&self) -> usize {
        match self.address.load(Ordering::Relaxed) {
            0 => self.look_up(),
            address => address,
        }
    }

    #[cold]
    fn look_up(&self) -> usize {
        let found = match self.name.to_bytes() {
            // It is ours too, and looking it up by itself would not end.
            b"dlsym" => self.in_version(c"GLIBC_2.2.5"),
            // Condition variables exist in two versions, and without one the old one may be found.
            name if name.starts_with(b"pthread_cond_") => self.in_version(c"GLIBC_2.3.2"),
            _ => core::ptr::null_mut(),
        };
        let found = if found.is_null() { self.in_any_version() } else { found };
        if found.is_null() {
            crate::sys::say("threadbare: this C library has no ");
            crate::sys::die(self.name.to_str().unwrap_or("function of this name"));
        }
        self.address.store(found as usize, Ordering::Relaxed);
        found as usize
    }

    fn in_version(&self, version: &CStr) -> *mut c_void {
        // SAFETY: names and versions end with a zero byte.
        unsafe { dlvsym(libc::RTLD_NEXT, self.name.as_ptr(), version.as_ptr()) }
    }

    fn in_any_version(&self) -> *mut c_void {
        let (handle, name) = (libc::RTLD_NEXT, self.name.as_ptr());
        next!(dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void)
    }
}

/// Defines functions of the C library anew. Callers that do not have the baton get the library's own.
macro_rules! interpose {
    ($($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => { $(
        $(#[$attribute])*
        #[unsafe(no_mangle)]
        #[allow(unreachable_code, reason = "some functions do not return")]
        pub extern "C-unwind" fn $name($($argument: $type),*) $(-> $result)? {
            if !$crate::runtime::active() {
                return $crate::next::next!($name($($argument: $type),*) $(-> $result)?);
            }
            $body
        }
    )* };
}
pub(crate) use interpose;

pub(crate) use next;
