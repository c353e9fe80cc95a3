//! What instrumented programs log: each unit names the right place of the source, address and value, whatever the level of
//! optimisation.

use crate::common;

use crate::common::units::{Entry, Log};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn log(directory: &Path, text: &str, flags: &[&str]) -> Log {
    let source = directory.join("t.c");
    std::fs::write(&source, text).expect("space");
    let binary = directory.join("t");
    common::build(&[source], flags, &binary);
    Log::of(&binary, None)
}

/// The units of a program are these, unoptimised and optimised: line, what, where, value.
fn expect(text: &str, expected: &[&str]) {
    let directory = tempfile::tempdir().expect("a directory");
    for level in ["-O0", "-O1", "-O2", "-O3"] {
        let found = log(directory.path(), text, &["-g", level]).text();
        assert_eq!(found, expected, "at {level}");
    }
}

#[test]
fn loads_and_stores_of_all_small_types() {
    expect(
        "struct { char c; short s; int i[3]; double d; float f; void *p; } v;\nint main(void) {\n\
         v.c = -1;\nv.s = 2;\nv.i[2] = v.c;\nv.d = 1.5;\nv.f = 0.5f;\nv.p = &v.i[1];\n\
         return *(int *)v.p;\n}\n",
        &[
            "2 entry 0",
            "3 store v.c 255",
            "4 store v.s 2",
            "5 load v.c 255",
            "5 store v.i[2] 4294967295",
            "6 store v.d 4609434218613702656",
            "7 store v.f 1056964608",
            "8 store v.p *",
            "9 load v.p *",
            "9 load v.i[1] 0",
        ],
    );
}

#[test]
fn locals_are_logged_only_if_others_can_reach_them() {
    expect(
        "int other(int *);\nint main(void) {\nint hidden[4] = {1, 2, 3, 4}, open = 5;\nint i = other(&open);\n\
         return hidden[i & 3] + open;\n}\nint other(int *p) {\nreturn *p;\n}\n",
        &["2 entry 0", "2 stack *", "3 store * 5", "7 entry *", "8 load * 5", "5 load * 5"],
    );
}

#[test]
fn a_loop_that_only_counts_is_not_logged() {
    expect(
        "int n;\nint main(void) {\nint s = 0;\nfor (int i = 0; i < 1000; i++) s += i;\nn = s;\n}\n",
        &["2 entry 0", "5 store n 499500"],
    );
}

#[test]
fn a_branch_that_follows_from_a_load_is_not_logged_and_another_is() {
    expect(
        "volatile int n = 2;\nvolatile double d = 2;\nint main(void) {\nif (n > 1)\nn = 7;\nif (d > 1)\nn = 8;\n\
         switch ((int)d) {\ncase 1: return 1;\ncase 2: case 3: return 2;\n}\n}\n",
        &[
            "3 entry 0",
            "4 load n 2",
            "5 store n 7",
            "6 load d 4611686018427387904",
            "6 branch 0",
            "7 store n 8",
            "8 load d 4611686018427387904",
            "8 switch 1",
        ],
    );
}

#[test]
fn parameters_of_functions_that_only_the_module_calls_follow() {
    let text = |kind: &str| {
        format!(
            "int n;\n{kind}int sign(long a, long b) {{\nif (a < 0) return -1;\nreturn 1;\n}}\n\
             int main(void) {{\nn = sign(n, 1);\nn = sign(-1, n);\n}}\n"
        )
    };
    // The module's own: nothing but the loads and stores of `main`.
    expect(
        &text("static "),
        &["6 entry 0", "7 load n 0", "7 store n 1", "8 load n 1", "8 store n 4294967295"],
    );
    // Others may call it, too: its parameters are logged.
    let both = ["2 entry 0", "2 entry 1", "7 store n 1", "8 load n 1", "2 entry -1", "2 entry 1"];
    expect(&text(""), &[&["6 entry 0", "7 load n 0"], &both[..], &["8 store n 4294967295"]].concat());
    // Another may be called in its place: nothing is known of its parameters, and its result is logged.
    let (first, second) = (["3 branch 1", "7 call 1"], ["3 branch 0", "8 call 4294967295"]);
    expect(
        &text("__attribute__((weak)) "),
        &[
            &["6 entry 0", "7 load n 0"],
            &first[..],
            &["7 store n 1", "8 load n 1"],
            &second,
            &["8 store n 4294967295"],
        ]
        .concat(),
    );
}

/// Where C leaves open what happens, the compiler must not conclude more than the reader, who wraps round.
#[test]
fn overflow_wraps_where_branches_depend_on_it() {
    expect(
        "int n = 2147483647, m;\nstatic int wraps(int a, int b) {\nreturn b < a;\n}\n\
         int main(void) {\nint k = n;\nif (k + 1 < k)\nm = 5;\nif (wraps(k, k + 1))\nm = 6;\n}\n",
        &["5 entry 0", "6 load n 2147483647", "8 store m 5", "9 branch 0", "10 store m 6"],
    );
}

#[test]
fn calls_log_their_result_unless_the_module_defines_the_callee() {
    expect(
        "int atoi(const char *);\nstatic int one(void) { return 1; }\n\
         int (*volatile f)(void) = one;\nint main(int argc, char **argv) {\nint n = one();\nn += atoi(\"5\");\n\
         n += f();\nreturn n - 7;\n}\n",
        &["4 entry 1", "4 entry *", "2 entry 0", "6 call 5", "7 load f *", "2 entry 0", "7 indirect 1"],
    );
}

#[test]
fn functions_without_a_prologue_are_external() {
    expect(
        "__attribute__((naked)) int seven(void) {\n__asm__(\"movl $7, %eax; ret\");\n}\n\
         int main(void) {\nreturn seven() - 7;\n}\n",
        &["4 entry 0", "5 call 7"],
    );
}

#[test]
fn atomics() {
    expect(
        "#include <stdatomic.h>\n_Atomic int n = 5;\n_Atomic(char *) p;\nint main(void) {\nn += 2;\n\
         atomic_exchange(&n, 9);\nint e = 9;\natomic_compare_exchange_strong(&n, &e, 10);\n\
         e = 3;\natomic_compare_exchange_weak(&n, &e, 11);\natomic_thread_fence(memory_order_seq_cst);\n\
         atomic_store_explicit(&n, 12, memory_order_release);\nreturn atomic_fetch_sub(&n, 1) - 12;\n}\n",
        &[
            "4 entry 0",
            "5 update n 5",
            "5 update n 7",
            "6 update n 7",
            "6 update n 9",
            "8 exchange n 9",
            "8 exchange n 9",
            "8 exchange n 10",
            "10 exchange n 10",
            "10 exchange n 3",
            "10 exchange n 11",
            "11 fence 0",
            "12 store n 12",
            "13 update n 12",
            "13 update n 11",
        ],
    );
}

#[test]
fn bytes_of_wide_accesses_copies_and_objects_passed_by_value() {
    expect(
        "#include <string.h>\nstruct s { long a[3]; } x = {{1, 2, 3}}, y;\n__int128 w = 7;\n\
         long sum(struct s s) {\nreturn s.a[0];\n}\nint main(void) {\ny = x;\nmemset(&x, 1, 2);\nw++;\n\
         return sum(y) - 1;\n}\n",
        &[
            "7 entry 0",
            "8 copy x.a[0] 0100000000000000 0200000000000000 0300000000000000",
            "8 copy y.a[0] 0100000000000000 0200000000000000 0300000000000000",
            "9 fill x.a[0] 0101",
            "10 load w 0700000000000000 0000000000000000",
            "10 store w 0800000000000000 0000000000000000",
            "11 copy y.a[0] 0100000000000000 0200000000000000 0300000000000000",
            "4 entry *",
            "5 load * 1",
        ],
    );
}

#[test]
fn control_that_comes_back_from_elsewhere() {
    expect(
        "#include <setjmp.h>\njmp_buf b;\nint main(void) {\nif (setjmp(b)) return 0;\nlongjmp(b, 1);\n}\n",
        &["3 entry 0", "4 call 0", "4 call 1"],
    );
}

#[test]
fn the_buffer_may_be_emptied_anywhere() {
    let directory = tempfile::tempdir().expect("a directory");
    let text = "int n; double d; int abs(int); int puts(const char *);\nstatic int f(int *p) { d += *p; return d > 3; }\n\
                int main(int c, char **v) { for (int i = 0; i < 9; i++) { n += abs(i) + f(&i); __sync_fetch_and_add(&n, i); }\n\
                int a[c + 3]; a[c] = n; puts(n > 40 ? \"more\" : \"less\"); return f(a + c); }\n";
    for level in ["-O0", "-O2"] {
        let all = log(directory.path(), text, &["-g", level]).text();
        assert!(all.len() > 100, "{}", all.len());
        for small in 1..6 {
            assert_eq!(
                Log::of(&directory.path().join("t"), Some(small)).text(),
                all,
                "after {small} at {level}"
            );
        }
    }
}

/// All programs that run one thread and catch no exceptions.
fn programs() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let files = std::fs::read_dir(&directory).expect("the programs").map(|file| file.expect("a file").path());
    let mut programs: Vec<PathBuf> = files
        .filter(|path| {
            let text = std::fs::read_to_string(path).expect("a program");
            // A function that is put into its caller shares the caller's landing pads, and is passed by the unwinder otherwise.
            let other = ["pthread_create", "std::thread", "std::jthread", "std::async", "catch ("];
            !text.starts_with("// part of")
                && !text.contains("// with:")
                && !other.iter().any(|word| text.contains(word))
        })
        .collect();
    programs.sort();
    programs
}

/// Loads of one byte that nothing in the log has written: C++ passes objects without content so.
fn unwritten(log: &Log) -> HashSet<usize> {
    let (mut written, mut unwritten) = (HashSet::new(), HashSet::new());
    for (n, entry) in log.entries.iter().enumerate() {
        let is_load = matches!(log.index.op(&log.linked.program, entry.site()), Some(ir::Op::Load { .. }));
        match entry {
            Entry::Unit(_, address, 0..256) if is_load && log.place(*address).is_none() => {
                if !written.contains(address) {
                    unwritten.insert(n);
                }
            }
            Entry::Unit(_, address, _) => written.extend(*address..address + 8),
            Entry::Bytes(_, address, bytes) => written.extend(*address..address + bytes.len() as u64),
        }
    }
    unwritten
}

/// Optimisation behind the pass does not change what is logged: the same instrumented code, at all levels.
#[test]
fn optimisation_changes_no_unit() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str| directory.path().join(name);
    let programs = programs();
    assert!(programs.len() >= 20, "{}", programs.len());
    for program in programs {
        let text = std::fs::read_to_string(&program).expect("a program");
        let asked: Vec<&str> = (text.lines().take(4))
            .filter_map(|line| line.strip_prefix("// flags:").or(line.strip_prefix("// link:")))
            .flat_map(str::split_whitespace)
            .collect();
        let mut command = Command::new(common::compiler(&program));
        command.args(["-w", "-g"]).args(&asked);
        command.args(["-O2", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c"]);
        common::run(command.arg(&program).arg("-o").arg(file("plain.bc")));
        let mut command = Command::new("opt-22");
        command.arg(format!("-load-pass-plugin={}", common::plugin().display())).arg("-passes=threadbare");
        common::run(command.arg(file("plain.bc")).arg("-o").arg(file("instrumented.bc")));
        let (mut found, mut ignored): (Vec<Vec<String>>, HashSet<usize>) = (vec![], HashSet::new());
        for level in ["-O0", "-O2", "-O3"] {
            let mut command = Command::new(common::compiler(&program));
            command.args(["-w", level]).arg(file("instrumented.bc")).arg(common::runtime());
            common::run(command.args(&asked).args(["-lm", "-pthread"]).arg("-o").arg(file("binary")));
            let log = Log::of(&file("binary"), None);
            ignored.extend(unwritten(&log));
            let sited = |(entry, text): (&Entry, String)| format!("{} {text}", entry.site().0);
            found.push(log.entries.iter().zip(log.text()).map(sited).collect());
        }
        for log in &mut found {
            for &n in &ignored {
                if let Some(text) = log.get_mut(n) {
                    *text = text.rsplit_once(' ').expect("a value").0.to_owned();
                }
            }
        }
        assert!(!found[0].is_empty(), "{}", program.display());
        for other in &found[1..] {
            let at = found[0].iter().zip(other).position(|(one, other)| one != other);
            let at = at.unwrap_or(found[0].len().min(other.len()));
            let show = |log: &[String]| log[at.saturating_sub(3)..log.len().min(at + 4)].join("\n");
            assert!(*other == found[0], "{}:\n{}\n--\n{}", program.display(), show(&found[0]), show(other));
        }
    }
}
