//! What the words of a compiler's command line mean, as far as it matters here.

/// Options whose value is the next word.
const WITH_VALUE: &[&str] = &[
    "--param",
    "--serialize-diagnostics",
    "--sysroot",
    "--target",
    "-A",
    "-B",
    "-D",
    "-F",
    "-G",
    "-I",
    "-L",
    "-MF",
    "-MJ",
    "-MQ",
    "-MT",
    "-T",
    "-U",
    "-Xanalyzer",
    "-Xarch_host",
    "-Xassembler",
    "-Xclang",
    "-Xlinker",
    "-Xpreprocessor",
    "-arch",
    "-aux-info",
    "-cxx-isystem",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-e",
    "-framework",
    "-idirafter",
    "-imacros",
    "-imultilib",
    "-include",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-ivfsoverlay",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-l",
    "-mllvm",
    "-o",
    "-resource-dir",
    "-target",
    "-u",
    "-working-directory",
    "-wrapper",
    "-x",
    "-z",
];

/// Whether the word behind this one is its value.
pub fn takes_value(word: &str) -> bool {
    WITH_VALUE.binary_search(&word).is_ok()
}

/// Options of gcc, without `-f`, `-fno-` and a value, that clang refuses. They are about how code is made, not what it means.
const GCC_F: &[&str] = &[
    "abi-version",
    "aggressive-loop-optimizations",
    "allow-store-data-races",
    "analyzer",
    "auto-inc-dec",
    "callgraph-info",
    "canonical-system-headers",
    "code-hoisting",
    "compare-elim",
    "concepts",
    "condition-coverage",
    "conserve-stack",
    "cprop-registers",
    "crossjumping",
    "devirtualize-at-ltrans",
    "devirtualize-speculatively",
    "diagnostics-show-caret",
    "early-inlining",
    "ext-numeric-literals",
    "fold-simple-inlines",
    "forward-propagate",
    "guess-branch-probability",
    "hardened",
    "hoist-adjacent-loads",
    "indirect-inlining",
    "inline-atomics",
    "lifetime-dse",
    "live-range-shrinkage",
    "loop-nest-optimize",
    "loop-parallelize-all",
    "min-function-alignment",
    "modules-ts",
    "multiflags",
    "optimize-strlen",
    "partial-inlining",
    "peephole2",
    "printf-return-value",
    "ree",
    "reorder-blocks-and-partition",
    "report-bug",
    "sched-interblock",
    "sched-pressure",
    "sched-spec",
    "section-anchors",
    "shrink-wrap",
    "split-loops",
    "split-wide-types",
    "ssa-backprop",
    "ssa-phiopt",
    "stack-limit",
    "stdarg-opt",
    "store-merging",
    "strict-volatile-bitfields",
    "toplevel-reorder",
    "trampolines",
    "var-tracking",
    "var-tracking-assignments",
    "var-tracking-uninit",
    "whole-program",
];

/// The same for whole families.
const GCC_F_FAMILIES: &[&str] =
    &["dump-", "graphite", "harden-", "ipa-", "ira-", "isolate-erroneous-paths-", "tree-"];

/// The same for `-m` and `-mno-`.
const GCC_M: &[&str] = &[
    "accumulate-outgoing-args",
    "avx256-split-unaligned-load",
    "avx256-split-unaligned-store",
    "fp-ret-in-387",
    "indirect-branch",
    "indirect-branch-register",
    "preferred-stack-boundary",
    "record-mcount",
];

/// Whether gcc alone knows this option.
pub fn is_gcc_only(word: &str) -> bool {
    let stem = |rest: &'_ str| -> String {
        let rest = rest.split('=').next().unwrap_or_default();
        rest.strip_prefix("no-").unwrap_or(rest).to_owned()
    };
    if let Some(rest) = word.strip_prefix("-f") {
        let stem = stem(rest);
        return GCC_F.binary_search(&&*stem).is_ok()
            || GCC_F_FAMILIES.iter().any(|family| stem.starts_with(family))
                && !matches!(&*stem, "tree-vectorize" | "tree-slp-vectorize");
    }
    if let Some(rest) = word.strip_prefix("-m") {
        return GCC_M.binary_search(&&*stem(rest)).is_ok();
    }
    word.starts_with("-specs=") || word.starts_with("--specs=")
}

/// Whether an option asks for less debug information than names and places need.
pub fn is_too_little_debug(word: &str) -> bool {
    matches!(
        word,
        "-g0" | "-g1" | "-gmlt" | "-gline-tables-only" | "-gline-directives-only" | "-ggdb0" | "-ggdb1"
    )
}

/// Options that stop the compiler before it links.
pub fn stops_before_linking(word: &str) -> bool {
    matches!(
        word,
        "-c" | "-S"
            | "-E"
            | "-M"
            | "-MM"
            | "-fsyntax-only"
            | "-emit-ast"
            | "--precompile"
            | "--analyze"
            | "-r"
            | "--preprocess"
            | "--assemble"
            | "--compile"
            | "-Wl,-r"
            | "-Wl,--relocatable"
    )
}

/// Options that only ask the compiler about itself.
pub fn only_asks(word: &str) -> bool {
    matches!(
        word,
        "--version" | "-dumpversion" | "-dumpfullversion" | "-dumpmachine" | "-dumpspecs" | "-cc1" | "-cc1as"
    ) || word.starts_with("-print-")
        || word.starts_with("--print-")
        || word.starts_with("--help")
        || word.starts_with("--autocomplete=")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_so_that_they_can_be_searched() {
        for table in [WITH_VALUE, GCC_F, GCC_M] {
            assert!(table.is_sorted(), "{table:?}");
        }
    }

    #[test]
    fn options_of_gcc_are_known_with_no_and_with_a_value() {
        for word in [
            "-fno-tree-pre",
            "-fipa-pta",
            "-fabi-version=6",
            "-mpreferred-stack-boundary=4",
            "-fno-stack-limit",
        ] {
            assert!(is_gcc_only(word), "{word}");
        }
        for word in
            ["-fno-tree-vectorize", "-fPIC", "-mavx2", "-fno-plt", "-fstack-protector-strong", "-fopenmp"]
        {
            assert!(!is_gcc_only(word), "{word}");
        }
    }
}
