//! The IR of a few small programs as text, so that a change of the translation is seen.

use crate::common;
use std::path::PathBuf;

/// The IR of a piece of C or C++, with debug information.
fn ir_of(name: &str, text: &str) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let source = directory.path().join(name);
    std::fs::write(&source, text).expect("space");
    let object = directory.path().join("object.o");
    let program: ir::Program = {
        // Paths in the IR are those that the compiler is given.
        let sources = [PathBuf::from(name)];
        common::build_in(directory.path(), &sources, &["-c", "-g", "-O1"], &object)
    };
    ir::print(&program)
}

#[test]
fn names_layouts_and_positions_come_from_the_source() {
    let text =
        "struct account { int id; long balance[2]; struct account *next; unsigned low : 3, high : 5; };
static struct account accounts[4];
_Thread_local short own = 7;
extern int elsewhere;
const char *text = \"abc\";
long move(int from, int to, long amount) {
  struct account *source = &accounts[from];
  if (source->balance[1] < amount)
    return -1;
  source->balance[1] -= amount;
  accounts[to].balance[0] += amount;
  own++;
  return source->next->id + elsewhere;
}
";
    insta::assert_snapshot!(ir_of("account.c", text));
}

#[test]
fn atomics_keep_their_orders() {
    let text = "int n; int *p;
int f(int x) {
  int old = __atomic_fetch_add(&n, x, __ATOMIC_ACQ_REL);
  int expected = 3;
  if (__atomic_compare_exchange_n(&n, &expected, 4, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
    __atomic_store_n(&p, &n, __ATOMIC_RELEASE);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return *__atomic_load_n(&p, __ATOMIC_ACQUIRE) + old + expected;
}
";
    insta::assert_snapshot!(ir_of("atomics.c", text));
}

#[test]
fn what_is_not_followed_is_opaque() {
    let text = "typedef int v4 __attribute__((vector_size(16)));
struct pair { long a, b; };
struct big { long items[4]; };
extern struct pair get(void); extern int take(struct big); int choose(int, ...);
double half(double x) { return x / 2; }
int lanes(v4 v) { return v[1]; }
int assembly(int x) { __asm__ volatile(\"nop\" : \"+r\"(x) : : \"memory\"); return x; }
long second(void) { return get().b; }
int by_value(struct big *b) { return take(*b) + choose(1, 2); }
void *jump(int n) { static void *const labels[] = {&&one, &&two}; goto *labels[n]; one: return 0; two: return labels[0]; }
";
    insta::assert_snapshot!(ir_of("opaque.c", text));
}

#[test]
fn exceptions_are_invokes() {
    let text = "struct Guard { ~Guard(); };
int risky(int);
struct Base { virtual int code(); };
int f(int n, Base *b) {
  Guard guard;
  try { return risky(n); } catch (int e) { return e + b->code(); }
}
";
    insta::assert_snapshot!(ir_of("exceptions.cc", text));
}

#[test]
fn memory_that_a_call_allocates_has_the_type_of_the_variable_that_holds_it() {
    let text = "#include <stdlib.h>\ntypedef struct node { struct node *next; int value; } node;\nnode *head;\n\
                int main(void) { node *n = malloc(sizeof *n); n->next = head; head = n; return n->value; }\n";
    let directory = tempfile::tempdir().expect("a directory");
    let source = directory.path().join("t.c");
    std::fs::write(&source, text).expect("space");
    for level in ["-O0", "-O2"] {
        let object = directory.path().join("t.o");
        let program = common::build(std::slice::from_ref(&source), &["-c", "-g", level], &object);
        let value = program.functions[0].values.iter().find(|value| value.name.as_deref() == Some("n"));
        let shape = value.and_then(|value| value.pointee).expect("a shape");
        assert_eq!(program.part_name(shape, 8), ".value");
    }
}
