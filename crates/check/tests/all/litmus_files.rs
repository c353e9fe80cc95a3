//! Litmus tests in herd's format: what is read, and what is refused where.

use check::cat::Model;
use check::{Checker, Options, litmus};

fn allowed(source: &str, model: &str) -> bool {
    let program = litmus::program(source, "test.litmus", 3).unwrap_or_else(|errors| panic!("{errors:?}"));
    let model = Model::shipped(model).expect("the tests' own input is fine");
    Checker::new(&program, Options::default())
        .under(&model)
        .condition_verdict()
        .expect("the tests' own input is fine")
        .expect("the tests' own input is fine")
}

const SB: &str = "X86 SB
\"Fre PodWR Fre PodWR\"
Cycle=Fre PodWR Fre PodWR
{ x=0; y=0; }
 P0          | P1          ;
 MOV [x],$1  | MOV [y],$1  ;
 MOV EAX,[y] | MOV EAX,[x] ;
exists (0:EAX=0 /\\ 1:EAX=0)
";

const MP: &str = "C MP+rel+acq
{}
P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  atomic_store_explicit(y, 1, memory_order_release);
}
P1 (atomic_int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_acquire);
  int r1 = 7;
  if (r0 == 1) {
    r1 = atomic_load_explicit(x, memory_order_relaxed);
  } else { r1 = 2; }
}
exists (1:r0=1 /\\ 1:r1=0)
";

#[test]
fn x86_tests_are_read() {
    assert!(allowed(SB, "tso") && !allowed(SB, "sc"));
    let fenced = SB.replace(" MOV EAX,[y]", " MFENCE | MFENCE ;\n MOV EAX,[y]");
    assert!(!allowed(&fenced, "tso"));
    let exchanged = SB.replace("MOV [x],$1 ", "XCHG [x],EBX").replace("MOV [y],$1 ", "XCHG [y],EBX");
    let exchanged = exchanged.replace("{ x=0; y=0; }", "{ 0:EBX=1; 1:EBX=1; }");
    assert!(!allowed(&exchanged, "tso"));
}

#[test]
fn c_tests_are_read() {
    assert!(!allowed(MP, "rc11"));
    assert!(allowed(&MP.replace("memory_order_release", "memory_order_relaxed"), "rc11"));
}

/// The outcomes of a test under a model, with this bound for its loops.
fn outcomes(source: &str, model: &str, bound: u32) -> Vec<String> {
    let program = litmus::program(source, "test.litmus", bound).unwrap_or_else(|errors| panic!("{errors:?}"));
    let model = Model::shipped(model).expect("the tests' own input is fine");
    let outcomes =
        Checker::new(&program, Options::default()).under(&model).outcomes(100).expect("they are enumerated");
    let line = |(name, value): &(String, String)| format!("{name}={value}");
    let state = |outcome: &check::Outcome| outcome.values.iter().map(line).collect::<Vec<_>>().join(" ");
    outcomes.states.iter().map(state).collect()
}

/// A compare-and-exchange of C, with a local to compare with.
fn compare_exchange(call: &str, expected: i32) -> String {
    format!(
        "C cas\n{{}}\nP0 (atomic_int* x) {{\n  int e = {expected};\n  int r = {call};\n}}\nforall (0:r=0 \\/ 0:e=0)\n"
    )
}

#[test]
fn compare_and_exchange_of_c_takes_what_it_finds() {
    let strong = "atomic_compare_exchange_strong(x, &e, 7)";
    assert_eq!(outcomes(&compare_exchange(strong, 0), "rc11", 1), ["x=7 P0.r=1 P0.e=0"]);
    assert_eq!(outcomes(&compare_exchange(strong, 3), "rc11", 1), ["x=0 P0.r=0 P0.e=0"]);
    let orders =
        "atomic_compare_exchange_strong_explicit(x, &e, 7, memory_order_acq_rel, memory_order_relaxed)";
    assert_eq!(outcomes(&compare_exchange(orders, 0), "rc11", 1), ["x=7 P0.r=1 P0.e=0"]);
    // A weak one may fail though it has found the value.
    let weak = "atomic_compare_exchange_weak(x, &e, 7)";
    assert_eq!(outcomes(&compare_exchange(weak, 0), "rc11", 1), ["x=0 P0.r=0 P0.e=0", "x=7 P0.r=1 P0.e=0"]);
}

/// As in herd's own tests: what is expected is shared, read before and written if it is something else.
#[test]
fn what_a_compare_and_exchange_expects_may_be_shared() {
    let test = "C shared\n{atomic_int x0 = 0;}
P0 (atomic_int* x, atomic_int* x0) {
  int r0 = atomic_compare_exchange_strong_explicit(x, x0, 2, memory_order_relaxed, memory_order_relaxed);
}
P1 (atomic_int* x, atomic_int* x0) {
  int r1 = atomic_compare_exchange_strong_explicit(x, x0, 1, memory_order_relaxed, memory_order_relaxed);
}
exists (0:r0=1 /\\ 1:r1=1)
";
    // The second finds 0 again in x0, or what the first has left there.
    let found = outcomes(test, "sc", 1);
    assert_eq!(found, ["x=1 x0=1 P0.r0=0 P1.r1=1", "x=2 x0=2 P0.r0=1 P1.r1=0"]);
}

const LOOPS: &str = "C loops
{}
P0 (atomic_int* x) {
  atomic_store_explicit(x, 1, memory_order_release);
}
P1 (atomic_int* x) {
  int r, n = 0;
  for (int i = 0; i < 3; i++) { if (i == 1) continue; n += 10; }
  do { n++; if (n > 100) break; } while (n < 22);
  while (atomic_load_explicit(x, memory_order_acquire) == 0) { r--; }
}
exists (1:n=22 /\\ 1:r=-2)
";

#[test]
fn loops_of_c_go_as_far_as_their_bound() {
    assert_eq!(outcomes(LOOPS, "sc", 3), [-1, -2, -3, 0].map(|r| format!("x=1 P1.n=22 P1.r={r}")));
    let program = litmus::program(LOOPS, "test.litmus", 3).unwrap();
    let failures = Checker::new(&program, Options::default()).failures().unwrap();
    let bounds: Vec<_> = failures.iter().map(|f| (f.bound, f.position.map(|p| p.line))).collect();
    assert_eq!(bounds, [(Some(3), Some(10))]);
}

/// The lock of the x86-TSO paper (S. Owens et al., TPHOLs 2009): two threads count up under it.
const SPINLOCK: &str = "X86 spinlock
{ l=1; }
 P0            | P1            ;
 Acquire:      | Acquire:      ;
 LOCK DEC [l]  | LOCK DEC [l]  ;
 JNS Enter     | JNS Enter     ;
 Spin:         | Spin:         ;
 CMP [l],$0    | CMP [l],$0    ;
 JLE Spin      | JLE Spin      ;
 JMP Acquire   | JMP Acquire   ;
 Enter:        | Enter:        ;
 MOV EAX,[x]   | MOV EAX,[x]   ;
 INC EAX       | INC EAX       ;
 MOV [x],EAX   | MOV [x],EAX   ;
 MOV [l],$1    | MOV [l],$1    ;
forall (x=2)
";

#[test]
fn jumps_of_x86_go_where_they_say() {
    assert_eq!(outcomes(SPINLOCK, "tso", 2), ["l=1 x=2"]);
    // Without the lock a step is lost.
    assert_eq!(outcomes(&SPINLOCK.replace("LOCK DEC [l]", "NOP         "), "tso", 2), ["l=1 x=1", "l=1 x=2"]);
    let program = litmus::program(SPINLOCK, "test.litmus", 2).unwrap();
    let execution = match Checker::new(&program, Options::default()).ask(check::Wanted::Anything).unwrap() {
        check::Verdict::Allowed(execution) => execution,
        check::Verdict::Forbidden(core) => panic!("{core:?}"),
    };
    // What only says which block is next is not shown.
    let lines: Vec<Option<u32>> = execution.operations.iter().skip(2).map(|o| o.line).collect();
    assert!(lines.iter().all(Option::is_some), "{lines:?}");
}

/// One thread with these instructions, and what it leaves in EAX and x.
fn after(instructions: &str) -> String {
    let rows: String = instructions.split(';').map(|row| format!(" {row} ;\n")).collect();
    let found = outcomes(
        &format!("X86 one\n{{ x=5; 0:EAX=5; 0:EBX=9; }}\n P0 ;\n{rows}forall (0:EAX=0)\n"),
        "tso",
        1,
    );
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

#[test]
fn instructions_of_x86_do_what_they_do() {
    let cases = [
        ("ADD EAX,EBX", "x=5 P0.EAX=14"),
        ("SUB [x],$2", "x=3 P0.EAX=5"),
        ("LOCK XADD [x],EBX; MOV EAX,EBX", "x=14 P0.EAX=5"),
        ("XADD [x],EBX; MOV EAX,EBX", "x=14 P0.EAX=5"),
        ("LOCK CMPXCHG [x],EBX", "x=9 P0.EAX=5"),
        ("CMPXCHG [x],EBX", "x=9 P0.EAX=5"),
        ("MOV EAX,$4; LOCK CMPXCHG [x],EBX", "x=5 P0.EAX=5"),
        ("XCHG EBX,[x]; MOV EAX,EBX", "x=9 P0.EAX=5"),
        ("XOR eax,eax; JE End; MOV [x],$0; End:", "x=5 P0.EAX=0"),
        ("CMP EAX,$6; JL End; MOV [x],$0; End:", "x=5 P0.EAX=5"),
        ("CMP EAX,$5; JG End; MOV [x],$0; End:", "x=0 P0.EAX=5"),
        ("CMP [x],EAX; JNE End; MOVL [x],$0; End: NOP", "x=0 P0.EAX=5"),
        // The exact result decides, not the 32 bits that are left of it.
        ("MOV EAX,$2147483647; ADD EAX,$1; JS End; MOV [x],$0; End: MOV EAX,$0", "x=5 P0.EAX=0"),
        ("MOV EAX,$2147483647; ADD EAX,$1; JG End; MOV [x],$0; End: MOV EAX,$0", "x=5 P0.EAX=0"),
        ("LOCK OR [x],$2; LOCK AND [x],$6; TEST EAX,$2; JNZ End; INC [x]; End:", "x=7 P0.EAX=5"),
    ];
    for (instructions, expected) in cases {
        assert_eq!(after(instructions), expected, "{instructions}");
    }
}

/// X86_64 has the target last and memory in parentheses, and all names of a register mean one.
#[test]
fn x86_64_tests_are_read() {
    let test = "X86_64 mp\n{ int64_t x; int64_t 1:rbx=0; }
 P0          | P1            ;
 movq $2,(x) | movl (y),%eax ;
 movl $1,(y) | cmp $1,%eax   ;
             | jne Out       ;
             | mov (x),%ebx  ;
             | Out:          ;
exists (1:RAX=1 /\\ 1:rbx=0)
";
    assert!(!allowed(test, "tso") && allowed(test, "pso"));
}

#[test]
fn events_stand_where_the_test_has_them() {
    let program = litmus::program(MP, "test.litmus", 3).unwrap();
    let lines: Vec<u32> = program
        .functions
        .iter()
        .flat_map(|f| &f.blocks)
        .flat_map(|b| &b.instructions)
        .filter(|i| matches!(i.op, ir::Op::Load { .. } | ir::Op::Store { .. }))
        .filter_map(|i| i.position.map(|p| p.line))
        .collect();
    assert!(lines.starts_with(&[4, 5, 8, 11]), "{lines:?}");
}

#[test]
fn what_is_not_understood_is_refused_at_its_place() {
    let cases = [
        (SB.replace("MOV EAX,[y]", "CLFLUSH [y]"), 7, "the instruction `CLFLUSH` is not known"),
        (SB.replace("MOV EAX,[y]", "MOV EAX,y"), 7, "`y` is no register"),
        (SB.replace("X86", "AArch64"), 1, "litmus tests for `AArch64` are not read"),
        (SB.replace("exists", "maybe"), 8, "`maybe` is not known"),
        (MP.replace("atomic_load_explicit(y", "atomic_peek(y"), 8, "the function `atomic_peek` is not known"),
        (MP.replace("memory_order_acquire", "memory_order_lax"), 8, "is no memory order"),
        (MP.replace("if (r0 == 1)", "switch (r0)"), 10, "`switch` is not supported"),
        (MP.replace("int r1 = 7;", "int r1 = 7; break;"), 9, "`break` stands in no loop"),
        (MP.replace("int r1 = 7;", "do { continue; } while (r0);"), 9, "`continue` in a `do` loop"),
        (MP.replace("int r1 = 7;", "int *r1;"), 9, "locals that are pointers"),
        (
            MP.replace("if (r0 == 1)", "while (atomic_compare_exchange_strong(x, y, 1))"),
            10,
            "whose expected value is shared",
        ),
        (MP.replace("int r1 = 7;", "atomic_compare_exchange_weak(x, r0, 1);"), 9, "`&r0`"),
        (SB.replace("MOV EAX,[y]", "JMP Nowhere"), 7, "there is no label `Nowhere`"),
        (SB.replace("MOV EAX,[y]", "MOV EAX,[EBX]"), 7, "addresses in registers are not read"),
        (SB.replace("MOV EAX,[y]", "LOCK MOV EAX,[y]"), 7, "this cannot be locked"),
        (SB.replace("MOV EAX,[y]", "MOVB EAX,[y]"), 7, "the instruction `MOVB` is not known"),
        (SB.replace(" MOV [x],$1", "L: NOP | ; L: MOV [x],$1"), 6, "the label `L` stands twice"),
        (MP.replace("int r1 = 7;", "int r1 = x;"), 9, "`x` is a pointer"),
        (MP.replace("{}", "{"), 3, "expected"),
    ];
    for (source, line, message) in cases {
        let errors = litmus::program(&source, "test.litmus", 3).expect_err(message);
        assert!(errors[0].message.contains(message) && errors[0].span.line == line, "{:?}", errors[0]);
    }
}
