//! Modules are joined as the linker joins them.

use crate::common::{link, linked, module, with_alias};
use abi::{Alias, AliasTarget, Linkage};

/// A function that returns a number.
fn constant(name: &str, number: u32) -> String {
    format!("function ${name}() -> (i32) {{\nb0:\n  return {number}i32\n}}\n")
}

/// A function `$main` that returns what `name` gives, which is defined elsewhere.
fn caller(name: &str) -> String {
    format!("function $main() -> (i32) {{\nb0:\n  %0 = call i32 external \"{name}\"()\n  return %0\n}}\n")
}

#[test]
fn a_call_finds_the_function_of_another_module() {
    let text = linked(&[module(&caller("f"), &[], &[]), module(&constant("f", 7), &[], &[])]);
    assert!(text.contains("call i32 $f()"), "{text}");
}

#[test]
fn static_functions_of_one_name_stay_apart() {
    let one = format!(
        "{}function $a() -> (i32) {{\nb0:\n  %0 = call i32 $s()\n  return %0\n}}\n",
        constant("s", 1)
    );
    let two = format!(
        "{}function $b() -> (i32) {{\nb0:\n  %0 = call i32 $s()\n  return %0\n}}\n",
        constant("s", 2)
    );
    let text = linked(&[module(&one, &[], &["s"]), module(&two, &[], &["s"])]);
    assert!(text.contains("call i32 $s#0()") && text.contains("call i32 $s#2()"), "{text}");
}

#[test]
fn a_static_function_is_not_seen_from_other_modules() {
    let text = linked(&[module(&caller("s"), &[], &[]), module(&constant("s", 1), &[], &["s"])]);
    assert!(text.contains("call i32 external \"s\"()"), "{text}");
}

#[test]
fn a_strong_definition_beats_a_weak_one_everywhere() {
    let own = format!(
        "{}function $main() -> (i32) {{\nb0:\n  %0 = call i32 $f()\n  return %0\n}}\n",
        constant("f", 1)
    );
    let text = linked(&[module(&own, &["f"], &[]), module(&constant("f", 2), &[], &[])]);
    assert!(!text.contains("return 1i32") && text.contains("return 2i32"), "{text}");
}

#[test]
fn the_first_of_weak_definitions_is_taken() {
    let modules = [1, 2].map(|number| module(&constant("f", number), &["f"], &[]));
    let text = linked(&modules);
    assert!(text.contains("return 1i32") && !text.contains("return 2i32"), "{text}");
}

#[test]
fn calls_with_other_types_go_through_the_address() {
    let defined = "function $f(%0 i64) -> (i32) {\nb0:\n  return 1i32\n}\n";
    let text = linked(&[module(&caller("f"), &[], &[]), module(defined, &[], &[])]);
    assert!(text.contains("call i32 indirect $f()"), "{text}");
}

#[test]
fn an_alias_names_its_target() {
    let alias = Alias { name: "g".into(), linkage: Linkage::Strong, target: AliasTarget::Function(0) };
    let defined = with_alias(module(&constant("f", 3), &[], &[]), alias);
    let text = linked(&[module(&caller("g"), &[], &[]), defined]);
    assert!(text.contains("call i32 $f()"), "{text}");
}

#[test]
fn globals_meet_their_definition_and_content_its_targets() {
    let one = "shape #0 = int 4 signed\nshape #1 = pointer\nglobal @x #0 = external\nglobal @f #1 = external\n\
               global @p #1 = bytes \"0000000000000000\" [0: @x + 4]\n\
               global @q #1 = bytes \"0000000000000000\" [0: @f]\n\
               function $main() -> (i32) {\nb0:\n  store @f, @p\n  %0 = load i32 @x\n  return %0\n}\n";
    let two = format!("shape #0 = int 8 signed\nglobal @x #0 = bytes \"05\"\n{}", constant("f", 3));
    let text = linked(&[module(one, &[], &[]), module(&two, &[], &[])]);
    assert!(text.contains("@x #2 = bytes \"05\"") || text.contains("= bytes \"05\""), "{text}");
    // A function is a function, whoever defines it.
    assert!(text.contains("[0: @x + 4]") && text.contains("[0: $f]"), "{text}");
    assert!(text.contains("store $f, @p"), "{text}");
}

#[test]
fn what_nobody_defines_is_one_thing_for_all_modules() {
    let each = |name: &str| {
        let text = "shape #0 = int 4 signed\nglobal @errno #0 thread_local = external\n";
        format!("{text}function ${name}() -> (i32) {{\nb0:\n  %0 = load i32 @errno\n  return %0\n}}\n")
    };
    let text = linked(&[module(&each("a"), &[], &[]), module(&each("b"), &[], &[])]);
    assert_eq!(text.matches("= external").count(), 1, "{text}");
}

#[test]
fn shapes_and_files_are_joined() {
    let each = |name: &str| {
        format!(
            "file !0 = \"list.h\"\nshape #0 = pointer #2\nshape #1 = int 4 signed\n\
             shape #2 = record \"node\" 16 {{0: #0 \"next\", 8: #1 \"value\"}}\n\
             global @{name} #2 = zero  !0:3:4\n"
        )
    };
    let program = link(&[module(&each("a"), &[], &[]), module(&each("b"), &[], &[])]).expect("a program");
    assert_eq!((program.files.len(), program.shapes.len(), program.globals.len()), (1, 3, 2));
    assert_eq!(program.part_name(program.globals[1].shape, 8), ".value");
}

#[test]
fn the_program_has_no_threads_of_its_own() {
    let program = link(&[module(&constant("main", 0), &[], &[])]).expect("a program");
    assert!(program.threads.is_empty());
    assert_eq!(program.name, "binary");
}
