use super::words::{BINARY, CASTS, CHECKS, ORDERS, PREDICATES, SYNC_KINDS, UPDATES, Words};
use super::{ParseError, parse, print};
use crate::{SyncOp, verify};
use proptest::prelude::*;

const SAMPLE: &str = include_str!("../../tests/every_construct.tir");

fn error(text: &str) -> ParseError {
    parse(text).expect_err("this text is wrong")
}

#[test]
fn the_sample_is_well_formed_and_printed_as_it_stands() {
    let program = parse(SAMPLE).unwrap_or_else(|error| panic!("{error}"));
    verify(&program).unwrap_or_else(|errors| panic!("{errors:#?}"));
    insta::assert_snapshot!(print(&program));
}

#[test]
fn printing_and_reading_gives_the_same_program() {
    let program = parse(SAMPLE).unwrap();
    let text = print(&program);
    let again = parse(&text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(program, again);
    assert_eq!(text, print(&again));
}

#[test]
fn the_sample_has_every_word() {
    fn all<T: Copy>(words: &Words<T>) -> impl Iterator<Item = &'static str> {
        words.iter().map(|(_, word)| *word)
    }
    let operations = [
        "select",
        "phi",
        "address",
        "load",
        "store",
        "fence",
        "stack_alloc",
        "heap_alloc",
        "free",
        "memcpy",
        "memmove",
        "memset",
        "call",
        "fork",
        "opaque",
        "cmpxchg",
        "rmw",
        "jump",
        "branch",
        "switch",
        "indirect_jump",
        "invoke",
        "return",
        "resume",
        "unreachable",
        "weak",
        "memory",
        "external",
        "indirect",
    ];
    let words = all(BINARY)
        .chain(all(PREDICATES))
        .chain(all(CASTS))
        .chain(all(ORDERS))
        .chain(all(UPDATES))
        .chain(all(CHECKS))
        .chain(all(&SyncOp::ALL))
        .chain(SYNC_KINDS.into_iter().map(crate::SyncKind::word))
        .chain(operations);
    for word in words {
        assert!(SAMPLE.split([' ', '\n']).any(|other| other == word), "no `{word}` in the sample");
    }
}

#[test]
fn quantifiers_go_both_ways() {
    for (word, quantifier) in [
        ("exists", crate::Quantifier::Exists),
        ("not_exists", crate::Quantifier::NotExists),
        ("forall", crate::Quantifier::Forall),
    ] {
        let text = SAMPLE.replace("final forall", &format!("final {word}"));
        let program = parse(&text).unwrap();
        assert_eq!(program.final_condition.as_ref().map(|f| f.quantifier), Some(quantifier));
        assert_eq!(parse(&print(&program)).unwrap(), program);
    }
}

#[test]
fn a_program_that_is_not_well_formed_is_printed_too() {
    let mut program = parse(SAMPLE).unwrap();
    program.threads[0].function = crate::FunctionId(99);
    program.globals.clear();
    program.functions[0].values.truncate(3);
    program.functions[1].values.push(crate::ValueInfo {
        ty: crate::Type::Ptr,
        name: Some("left".into()),
        pointee: None,
    });
    let text = print(&program);
    assert!(text.contains("thread main = $?#99 main"));
    assert!(text.contains("%3 = add ? %0, 5i32"));
    assert!(text.contains("undefined %25:left ptr"));
    assert!(text.contains("load i32 @?#0"));
}

#[test]
fn errors_say_what_was_expected() {
    let function =
        |line: &str| format!("program \"p\"\nglobal @x #0 = zero\nfunction $f() {{\nb0:\n  {line}\n");
    let texts = [
        "".to_owned(),
        "function $f() {".to_owned(),
        "program \"p\"\nglobal x".to_owned(),
        "program \"p\"\nshape #1 = mutex".to_owned(),
        "program \"p\"\nshape #0 = int 4 green".to_owned(),
        "program \"p\"\nglobal @x #0 = bytes \"0\"".to_owned(),
        "program \"p\"\nthread t = $nobody".to_owned(),
        "program \"never closed".to_owned(),
        "program \"p\" \"p\"".to_owned(),
        "program \"p\\q\"".to_owned(),
        function("%0 = add i32 %1"),
        function("%0 = add i129 %1, %1"),
        function("%0 = add i32 %1, 300i8"),
        function("%0 = add i32 %1, 3i0"),
        function("%0 = frob i32 %1, %1"),
        function("%0 = rmw frob i32 %1, %1 seq_cst"),
        function("%0 = jump b1"),
        function("store 1i32, @x sequential"),
        function("store 1i32, @y"),
        function("fence"),
        function("jump c1"),
        function("return 1i32 2i32"),
        function("%99999999999 = load i32 @x"),
        function("%7 = load i32 @x\n  return\n}"),
        function("return\nb2:"),
        function("return"),
        function("return !0:1"),
    ];
    let messages: Vec<String> = texts
        .iter()
        .map(|text| format!("{:?}\n  {}", text.lines().last().unwrap_or(""), error(text)))
        .collect();
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn a_name_that_several_have_needs_its_number() {
    let text = "program \"p\"\nglobal @x #0 = zero\nglobal @x #0 = zero\nfunction $f() {\nb0:\n  free @x\n  return\n}\n";
    assert!(error(text).message.contains("several are called global @x"));
    assert!(error(&text.replace("free @x", "free @x#2")).message.contains("number 2 is not global @x"));
    let program = parse(&text.replace("free @x", "free @x#1")).unwrap();
    assert!(print(&program).contains("free @x#1"));
}

proptest! {
    #[test]
    fn any_name_survives(name in ".*", label in "[\\x00-\\xff]*", path in any::<String>()) {
        let mut program = parse(SAMPLE).unwrap();
        program.name.clone_from(&name);
        program.files[0].path = path;
        program.globals[0].name = name.as_str().into();
        program.functions[0].name = label.as_str().into();
        program.functions[0].values[0].name = Some(name.as_str().into());
        program.functions[0].blocks[0].label = Some(label.as_str().into());
        program.functions[0].results[0].name = Some(label.as_str().into());
        program.threads[0].name = name.as_str().into();
        prop_assert_eq!(parse(&print(&program)).unwrap(), program);
    }

    #[test]
    fn constants_of_any_width_survive(bits in 1u8..=128, value in any::<i128>()) {
        let mut program = parse(SAMPLE).unwrap();
        let constant = crate::Operand::int(crate::Width::new(bits).unwrap(), value);
        program.functions[1].blocks[0].instructions[0].op = crate::Op::Free { pointer: constant };
        prop_assert_eq!(parse(&print(&program)).unwrap(), program);
    }

    #[test]
    fn edited_text_is_read_or_refused_but_never_panics(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..8)
    ) {
        let mut bytes = SAMPLE.as_bytes().to_vec();
        for (at, byte, how) in edits {
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 if bytes.len() > 1 => drop(bytes.remove(at)),
                _ => bytes.truncate(at.max(1)),
            }
        }
        if let Ok(program) = parse(&String::from_utf8_lossy(&bytes)) {
            let well_formed = verify(&program).is_ok();
            let text = print(&program);
            prop_assert!(!well_formed || parse(&text).as_ref() == Ok(&program));
        }
    }
}
