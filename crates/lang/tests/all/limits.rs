//! Programs at the limits neither overflow the stack nor take for ever.

use lang::{LowerOptions, MAX_DEPTH, compile, format};

fn works(source: &str) {
    let program = compile(source, &LowerOptions::default());
    let program =
        program.unwrap_or_else(|errors| panic!("{}", lang::render(&errors[0], "t.tb", source, false)));
    assert_eq!(ir::verify(&program), Ok(()));
    assert!(format(source).is_ok());
}

fn fails(source: &str, message: &str) {
    let errors = compile(source, &LowerOptions::default()).expect_err("this is beyond a limit");
    assert!(errors.iter().any(|e| e.message.contains(message)), "{errors:?}");
    for error in &errors {
        assert!(!lang::render(error, "t.tb", source, false).is_empty());
    }
}

fn nested(depth: usize, open: &str, inside: &str, close: &str) -> String {
    format!("int x; main {{ int r; {}{inside}{} }}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn deep_nesting_works_up_to_the_limit_and_is_an_error_beyond() {
    let limit = MAX_DEPTH as usize;
    let chain = vec!["x"; limit - 5].join(" + ");
    // A statement and its braces are one level each.
    works(&nested(limit / 2 - 5, "if (x) { ", &format!("x = {chain};"), " }"));
    works(&nested(limit - 20, "if (x) r = 1; else ", "r = 2;", ""));
    let (open, close) = ("(".repeat(limit - 20), ")".repeat(limit - 20));
    works(&format!("int x; main {{ x = {open}1{close}; }}"));
    for depth in [limit + 1, 100_000] {
        fails(&nested(depth, "if (x) { ", "x = 1;", " }"), "nested more than");
        fails(&nested(depth, "if (x) r = 1; else ", "r = 2;", ""), "nested more than");
        fails(&nested(depth, "{", "", "}"), "nested more than");
        fails(
            &format!("int x; main {{ x = {}1{}; }}", "(".repeat(depth), ")".repeat(depth)),
            "nested more than",
        );
        fails(&format!("int x; main {{ x = {}1; }}", "- ".repeat(depth)), "nested more than");
        fails(&format!("int x; main {{ x = {}; }}", vec!["1"; depth].join(" + ")), "nested more than");
        fails(&format!("int x; main {{ x = {}1; }}", "1 ? 1 : ".repeat(depth)), "nested more than");
        fails(&format!("int x; main {{ x = x{}; }}", "[0]".repeat(depth)), "nested more than");
    }
}

#[test]
fn long_programs_are_lowered_without_deep_recursion() {
    // A value that is read far behind the block that defines it.
    let ifs = "if (x) r = r + 1; ".repeat(5_000);
    works(&format!("int x; main {{ int r = 1, far = x; {ifs} x = r + far; }}"));
    let untouched = "if (x) x = 1; ".repeat(5_000);
    works(&format!("int x; main {{ int far = x; {untouched} x = far; }}"));
}

#[test]
fn nested_loops_are_lowered_in_reasonable_time() {
    let depth = 90;
    let open: String = (0..depth).map(|n| format!("while (r < {n}) {{ r++; ")).collect();
    works(&format!("int x; main {{ int r, s = x; {open} s++; {} x = s; }}", "}".repeat(depth)));
}

#[test]
fn a_text_that_is_too_large_is_refused() {
    fails(&" ".repeat(lang::MAX_SOURCE + 1), "more than the limit");
}
