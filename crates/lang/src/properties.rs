//! What must hold for every program, and for every text. `PROPTEST_CASES` sets how many are tried.

use crate::random::{Config, program};
use crate::{LowerOptions, compile, format, parse, print, render};
use proptest::prelude::*;

/// Few cases by default; the environment asks for more.
fn cases(default: u32) -> ProptestConfig {
    let set = std::env::var("PROPTEST_CASES").is_ok();
    let config = ProptestConfig::default();
    let cases = if set { config.cases } else { default };
    ProptestConfig { cases, failure_persistence: None, ..config }
}

fn shown(errors: &[crate::Diagnostic], source: &str) -> String {
    errors.iter().map(|e| render(e, "random.tb", source, false)).collect::<Vec<_>>().join("\n")
}

/// Words that programs are made of, for soups that are nearly programs.
fn token() -> impl Strategy<Value = String> {
    let words = "int u8 i64 atomic mutex recursive rwlock cond semaphore barrier fn thread main exists forall ~exists if \
        else while bound break continue return local fork skip null for x y a p m c T1 T1.x t1: lock unlock Lock alloc \
        cas fetch_add assert wait join ( ) { } [ ] ; , : ? = := == != < <= ≥ + - * / % & | ^ ~ ! << >> && || += ++ -- -> . \
        0 1 0xff 'a' 99999999999999999999 // /* */ \n @ é";
    prop::sample::select(words.split(' ').map(str::to_owned).collect::<Vec<_>>())
}

/// A text that is no program, most likely, must be refused with errors that can be shown, or else be formatted
/// and compiled.
fn survives(source: &str) -> Result<(), TestCaseError> {
    match compile(source, &LowerOptions::default()) {
        Err(errors) => {
            prop_assert!(!errors.is_empty() && errors.len() <= crate::MAX_ERRORS);
            shown(&errors, source);
        }
        Ok(program) => prop_assert_eq!(ir::verify(&program), Ok(())),
    }
    if let Ok(text) = format(source) {
        prop_assert_eq!(parse(&text).unwrap(), parse(source).unwrap(), "{}", text);
        prop_assert_eq!(format(&text).unwrap(), text);
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn a_random_program_compiles_and_its_ir_verifies(file in program(&Config::default())) {
        let source = print(&file);
        let program = compile(&source, &LowerOptions::default());
        let program = program.map_err(|e| TestCaseError::fail(shown(&e, &source)))?;
        prop_assert_eq!(ir::verify(&program), Ok(()), "{}", ir::print(&program));
        let text = ir::print(&program);
        prop_assert_eq!(ir::parse(&text).map_err(|e| TestCaseError::fail(e.to_string()))?, program);
    }

    #[test]
    fn printing_a_tree_and_parsing_it_gives_the_tree(file in program(&Config::default())) {
        let source = print(&file);
        prop_assert_eq!(parse(&source).map_err(|e| TestCaseError::fail(shown(&e, &source)))?, file);
    }

    #[test]
    fn what_is_printed_is_in_canonical_form(file in program(&Config::default())) {
        let source = print(&file);
        prop_assert_eq!(format(&source).unwrap(), source);
    }

    #[test]
    fn every_switch_of_a_plain_program_keeps_it_well_formed(
        (config, file) in any::<u32>().prop_flat_map(|bits| {
            let config = switched(bits);
            let file = program(&config);
            (Just(config), file)
        })
    ) {
        let source = print(&file);
        let program = compile(&source, &LowerOptions::default());
        prop_assert!(program.is_ok(), "{:?}\n{}\n{}", config, source, shown(&program.unwrap_err(), &source));
    }

    #[test]
    fn comments_survive_anywhere_and_formatting_twice_changes_nothing(
        file in program(&Config::tiny()),
        comments in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..4), 1..6),
    ) {
        let source = print(&file);
        let tokens = crate::lexer::lex(&source).tokens;
        // From the back, so that earlier places stay where they are.
        let mut places: Vec<(usize, usize)> =
            comments.iter().map(|(at, kind)| (at.get(&tokens).span.start as usize, *kind)).collect();
        places.sort_unstable();
        let mut commented = source.clone();
        for (n, (at, kind)) in places.iter().enumerate().rev() {
            let text = match kind {
                0 => format!("// c{n}\n"),
                1 => format!("\n\n// c{n}\n\n\n"),
                2 => format!("/* c{n} */"),
                _ => format!("/* c{n}\n   more */"),
            };
            commented.insert_str(*at, &text);
        }
        let once = format(&commented).map_err(|e| TestCaseError::fail(shown(&e, &commented)))?;
        prop_assert_eq!(parse(&once).map_err(|e| TestCaseError::fail(shown(&e, &once)))?, file, "{}\n=>\n{}", commented, once);
        for n in 0..comments.len() {
            prop_assert!(once.contains(&format!(" c{n}")), "{}\n=>\n{}", commented, once);
        }
        let twice = format(&once).map_err(|e| TestCaseError::fail(shown(&e, &once)))?;
        prop_assert_eq!(&twice, &once, "{}", commented);
        prop_assert!(!once.lines().any(|line| line.ends_with(' ')), "{:?}", once);
    }

    #[test]
    fn any_text_is_refused_or_compiled(source in any::<String>()) {
        survives(&source)?;
    }

    #[test]
    fn a_soup_of_tokens_is_refused_or_compiled(tokens in prop::collection::vec(token(), 0..60)) {
        survives(&tokens.join(" "))?;
    }

    #[test]
    fn a_body_of_soup_is_refused_or_compiled(tokens in prop::collection::vec(token(), 0..30)) {
        survives(&format!("int x, a[2]; int *p = &x; mutex m; cond c; main {{ {} }}", tokens.join(" ")))?;
    }

    #[test]
    fn a_damaged_program_is_refused_or_compiled(
        source in crate::random::source(&Config::default()),
        at in any::<prop::sample::Index>(),
        length in 0_usize..8,
        put in prop::option::of(token()),
    ) {
        let characters: Vec<char> = source.chars().collect();
        let at = at.index(characters.len() + 1);
        let rest = &characters[(at + length).min(characters.len())..];
        let damaged: String =
            characters[..at].iter().copied().chain(put.unwrap_or_default().chars()).chain(rest.iter().copied()).collect();
        survives(&damaged)?;
    }

    #[test]
    fn a_tiny_program_is_tiny(file in program(&Config::tiny())) {
        let mut total = 0;
        for item in &file.items {
            match &item.kind {
                crate::ast::ItemKind::Thread { body, .. } => total += crate::random::events(&body.statements),
                crate::ast::ItemKind::Function(f) if f.name.text.starts_with('w') => {
                    total += crate::random::events(&f.body.statements);
                }
                _ => {}
            }
        }
        prop_assert!(total <= Config::tiny().max_events, "{}", print(&file));
    }
}

#[test]
fn a_failing_program_shrinks_to_the_few_statements_that_matter() {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        max_shrink_iters: 50_000,
        ..ProptestConfig::default()
    });
    let result = runner.run(&crate::random::source(&Config::default()), |source| {
        prop_assert!(!source.contains("wrlock"));
        Ok(())
    });
    let Err(proptest::test_runner::TestError::Fail(_, smallest)) = result else {
        panic!("no program has an rwlock")
    };
    assert!(smallest.lines().filter(|line| !line.is_empty()).count() <= 14, "{smallest}");
}

/// A plain configuration with some groups turned on.
fn switched(bits: u32) -> Config {
    let on = |n: u32| bits & (1 << n) != 0;
    Config {
        locks: on(0),
        recursive_locks: on(1),
        rwlocks: on(2),
        conditions: on(3),
        timed_waits: on(4),
        semaphores: on(5),
        barriers: on(6),
        forks: on(7),
        atomics: on(8),
        orders: on(9),
        arrays: on(10),
        pointers: on(11),
        heap: on(12),
        widths: on(13),
        transactions: on(14),
        branches: on(15),
        loops: on(16),
        calls: on(17),
        asserts: on(18),
        assumes: on(19),
        division: on(20),
        labels: on(21),
        final_condition: on(22),
        ..Config::plain()
    }
}
