//! AV Fig. 3, 4 and 5 for the programs of Fig. 1 and 6, and one with pointers and locks.

use crate::common::{build, machine, record};
use ctp::show::{Form, show};
use subject::Strategy as Who;

fn shown(source: &str, form: Form) -> String {
    let machine = machine(source, false);
    let trace = record(&machine, &Who::RunToBlock);
    show(&build(&machine, &trace), machine.program(), &trace, form)
}

#[test]
fn figure_3_a() {
    insta::assert_snapshot!(shown(include_str!("../../../../examples/av-fig1a.tb"), Form::Events));
}

#[test]
fn figure_3_b() {
    let source = include_str!("../../../../examples/av-fig1b.tb");
    let machine = machine(source, false);
    // The run of the figure: T2 waits first, or the signal is lost.
    let trace = record(&machine, &Who::Random { seed: 3 });
    insta::assert_snapshot!(show(&build(&machine, &trace), machine.program(), &trace, Form::Events));
}

#[test]
fn figure_4() {
    insta::assert_snapshot!(shown(include_str!("../../../../examples/av-fig1a.tb"), Form::Cssa));
}

#[test]
fn figure_5() {
    insta::assert_snapshot!(shown(include_str!("../../../../examples/av-fig1a.tb"), Form::Formula));
}

#[test]
fn figure_6() {
    insta::assert_snapshot!(shown(include_str!("../../../../examples/av-fig6.tb"), Form::Cssa));
}

#[test]
fn pointers_locks_and_compare_and_swap() {
    let source = "mutex m; atomic int f; int a[2], i; int *p = &i;
        thread T { lock(m); i = 1; p = &a[0]; unlock(m); int ok = cas(f, 0, 1); }
        thread U { lock(m); int k = a[i]; *p = k / (i + 1); unlock(m); assert(f == 1); }";
    insta::assert_snapshot!(shown(source, Form::Events));
}
