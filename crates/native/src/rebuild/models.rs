//! What functions of libraries do that the program does not define: whether their result says something about memory that
//! threads share.
//!
//! The result of a function that is not listed is pinned if an argument depends on shared memory or points to it.

/// Functions whose result depends on no memory of the program, or only through synchronisation that the log has as events.
const INDEPENDENT: &[&str] = &[
    "abort",
    "abs",
    "aligned_alloc",
    "calloc",
    "clock",
    "clock_gettime",
    "exit",
    "fflush",
    "fprintf",
    "fputs",
    "free",
    "getpid",
    "gettimeofday",
    "labs",
    "malloc",
    "nanosleep",
    "operator",
    "posix_memalign",
    "printf",
    "putchar",
    "puts",
    "rand",
    "random",
    "realloc",
    "sleep",
    "snprintf",
    "srand",
    "srandom",
    "sysconf",
    "time",
    "usleep",
    "vfprintf",
    "vprintf",
];

/// Families of such functions, by how their names begin.
const FAMILIES: &[&str] = &[
    "__cxa_",
    "__gxx_",
    "__tb_",
    "__VERIFIER_",
    "_Zda",
    "_Zdl",
    "_Zna",
    "_Znw",
    "cnd_",
    "mtx_",
    "pthread_",
    "sched_",
    "sem_",
    "thrd_",
    "tss_",
];

/// Functions that come back a second time.
const RETURN_TWICE: &[&str] = &["__sigsetjmp", "_setjmp", "setjmp", "sigsetjmp"];

/// Whether the result of a function depends on no memory of the program.
pub fn is_independent(symbol: &str) -> bool {
    INDEPENDENT.binary_search(&symbol).is_ok() || FAMILIES.iter().any(|family| symbol.starts_with(family))
}

/// Whether a function may return a second time, by `longjmp`.
pub fn returns_twice(symbol: &str) -> bool {
    RETURN_TWICE.contains(&symbol)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_table_is_sorted_so_that_it_can_be_searched() {
        assert!(super::INDEPENDENT.is_sorted());
    }
}
