//! The numbers that a run uses lead to the linked program and back.

use crate::common::{link_all, module};
use ir::{FunctionId, GlobalId, SiteId, SiteIndex};

const MAIN: &str = "shape #0 = int 4 signed\nglobal @x #0 = external\nglobal @f #0 = external\n\
    function $main() -> (i32) {\nb0:\n  %0 = load i32 @x\n  store @f, @x\n  return %0\n}\n\
    function $f() -> (i32) {\nb0:\n  %0 = load i32 @x\n  return %0\n}\n";
const OTHER: &str = "shape #0 = int 4 signed\nglobal @y #0 = zero\nglobal @x #0 = zero\n\
    function $h() {\nb0:\n  return\n}\nfunction $f() -> (i32) {\nb0:\n  %0 = load i32 @x\n  return %0\n}\n";

#[test]
fn each_site_of_each_module_has_its_place() {
    let linked = link_all(&[module(MAIN, &["f"], &[]), module(OTHER, &["f"], &[])]).expect("a program");
    let index = SiteIndex::new(&linked.program);
    let [main, other] = &linked.modules[..] else { panic!("two modules") };
    assert_eq!((main.first, main.sites, other.first, other.sites), (1, 5, 6, 3));
    assert_eq!(
        (0..index.len() as u32).map(SiteId).collect::<Vec<_>>(),
        (0..6).map(SiteId).collect::<Vec<_>>()
    );
    // main's three, f's two; then h's one, and the dropped f's, which are those of the other.
    let sites: Vec<u32> = (1..9).map(|number| linked.site(number).expect("a site").0).collect();
    assert_eq!(sites, [0, 1, 2, 3, 4, 5, 3, 4]);
    let back: Vec<u32> = (0..6).map(|site| linked.log_site(SiteId(site)).expect("a number")).collect();
    assert_eq!(back, [1, 2, 3, 4, 5, 6]);
    assert_eq!((linked.site(0), linked.site(9), linked.log_site(SiteId(6))), (None, None, None));
}

#[test]
fn functions_and_globals_are_those_that_the_linker_took() {
    let linked = link_all(&[module(MAIN, &["f"], &[]), module(OTHER, &["f"], &[])]).expect("a program");
    let [main, other] = &linked.modules[..] else { panic!("two modules") };
    let name = |id: Option<FunctionId>| &*linked.program.function(id.expect("one")).name;
    assert_eq!((name(main.function(1)), name(other.function(0)), name(other.function(1))), ("f", "h", "f"));
    assert_eq!(main.function(1), other.function(1));
    let global = |id: Option<GlobalId>| &*linked.program.global(id.expect("one")).name;
    assert_eq!((global(main.global(0)), global(other.global(1))), ("x", "x"));
    assert_eq!(main.global(0), other.global(1));
    assert_eq!(main.global(1), None, "the address of a function");
    assert_eq!((main.global(2), main.function(2)), (None, None));
}

#[test]
fn other_code_of_the_same_name_stays_as_a_function_of_its_own() {
    let longer = "function $f() -> (i32) {\nb0:\n  %0 = add i32 1i32, 2i32\n  return %0\n}\n";
    let linked = link_all(&[module(longer, &["f"], &[]), module(OTHER, &["f"], &[])]).expect("a program");
    let names: Vec<&str> = linked.program.functions.iter().map(|function| &*function.name).collect();
    assert_eq!(names, ["f", "h", "f"]);
    let other = &linked.modules[1];
    assert_eq!(other.function(1), Some(FunctionId(0)), "the name means the first");
    let (site, back) = (other.site(1).expect("a site"), linked.log_site(SiteId(3)));
    assert_eq!((site, back), (SiteId(3), Some(other.first + 1)));
}

#[test]
fn a_module_that_is_there_twice_has_one_set_of_numbers() {
    let twice = module("function $s() {\nb0:\n  return\n}\n", &[], &["s"]);
    let linked = link_all(&[twice.clone(), twice]).expect("a program");
    assert_eq!(linked.modules.iter().map(|module| module.first).collect::<Vec<_>>(), [1, 1]);
}
