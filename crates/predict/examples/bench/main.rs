//! `make bench-predict`: the table of AV §6, and how prediction grows with the trace. `make bench-plan`: the table of PLAN §5.
//!
//! ```text
//! bench table [--no-z3] [--limit SECONDS] [N...]      AV Table 1, or the three banks with N clerks
//! bench generate NAME                                 one of its programs, e.g. bank-nav-8
//! bench scaling [EVENTS...]                           traces of so many events
//! bench plan [NAME...]                                PLAN Table 1
//! ```

mod families;
mod long;
mod plan;
mod scaling;
mod table;

use families::Family;
use std::process::ExitCode;
use std::time::Duration;

fn rows(sizes: &[usize]) -> Vec<families::Row> {
    match sizes {
        [] => families::table(),
        sizes => {
            let banks = [Family::BankAv, Family::BankSav, Family::BankNav];
            sizes.iter().flat_map(|&n| banks.map(|family| family.row(n))).collect()
        }
    }
}

fn generate(name: &str) -> Option<String> {
    if let Some(family) = Family::named(name) {
        return Some(family.row(2).source);
    }
    let (family, threads) = name.rsplit_once('-')?;
    let threads = threads.parse().ok().filter(|&threads| threads > 1)?;
    Some(Family::named(family)?.row(threads).source)
}

fn run(arguments: &[String]) -> Result<(), String> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["generate", name] => {
            let source = generate(name).ok_or_else(|| format!("there is no program {name}"))?;
            print!("{source}");
        }
        ["scaling", ref sizes @ ..] => {
            let sizes: Result<Vec<usize>, _> = sizes.iter().map(|word| word.parse()).collect();
            let sizes = sizes.map_err(|_| "sizes are numbers of events".to_owned())?;
            let default = vec![1_000, 10_000, 100_000, 1_000_000];
            scaling::print(if sizes.is_empty() { &default } else { &sizes })?;
        }
        ["plan", ref names @ ..] => plan::print(names),
        ["scaling-one", shape, size] => {
            let shape = long::Shape::named(shape).ok_or("the shapes are mix and loop")?;
            scaling::one(shape, size.parse().map_err(|_| format!("{size} is no number"))?);
        }
        ["table", ref rest @ ..] => {
            let (mut sizes, mut with_z3, mut limit) = (vec![], true, Duration::from_secs(30));
            let mut rest = rest.iter();
            while let Some(&word) = rest.next() {
                let number = |word: &str| word.parse::<usize>().map_err(|_| format!("{word} is no number"));
                match word {
                    "--no-z3" => with_z3 = false,
                    "--limit" => {
                        let seconds = number(rest.next().unwrap_or(&"nothing"))?;
                        limit = Duration::from_secs(seconds as u64);
                    }
                    word => sizes.push(number(word)?),
                }
            }
            table::print(&rows(&sizes), with_z3, limit);
        }
        _ => {
            return Err(
                "say table, generate, scaling or plan; see the top of the example's source".to_owned()
            );
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
