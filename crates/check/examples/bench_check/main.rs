//! How fast `check` is: the questions of MM Fig. 6 with start-up, programs of up to 500 memory operations
//! beside z3 on the same formula, and 1,000 litmus tests made from cycles on two threads. `make bench-check`
//! runs it; its argument is the command.

mod cycles;

use check::cat::Model;
use check::{Checker, Options, Timed};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// z3 is stopped after so many seconds.
const Z3_LIMIT: u64 = 60;

fn main() {
    let command = std::env::args().nth(1);
    if let Some(command) = &command {
        figure_6(command);
    }
    sizes();
    litmus_tests();
}

/// MM Fig. 6, each question as one command.
fn figure_6(command: &str) {
    println!("MM Fig. 6, whole process, best of 5 (the paper: Pentium 366 MHz)");
    let asked = "T1.r1 == 1 && T2.r2 == 0";
    let rows: [(&str, &[&str], &str); 6] = [
        ("program 1, r1=1 and r2=0", &["--exists", asked, "examples/mm-fig1-program1.tb"], "6.790"),
        ("program 1, races", &["--races", "examples/mm-fig1-program1.tb"], "6.810"),
        ("program 2, r1=1 and r2=0", &["--exists", asked, "examples/mm-fig1-program2.tb"], "0.401"),
        ("program 2, races", &["--races", "examples/mm-fig1-program2.tb"], "0.811"),
        ("Fig. 2, races", &["--races", "examples/mm-fig2.tb"], "18.940"),
        ("Fig. 2, atomicity", &["--atomicity=strong", "examples/mm-fig2.tb"], "2.955"),
    ];
    for (name, arguments, paper) in rows {
        let run = || {
            let start = Instant::now();
            let status = Command::new(command).arg("check").args(arguments).stdout(Stdio::null()).status();
            // Both verdicts are answers; a refused command line is none.
            let is_answer = |status: &std::process::ExitStatus| matches!(status.code(), Some(0 | 1));
            status.ok().filter(is_answer).map(|_| start.elapsed())
        };
        match (0..5).filter_map(|_| run()).min() {
            Some(best) => println!("  {name:26} {:7.1} ms   (paper {paper} s)", best.as_secs_f64() * 1e3),
            None => println!("  {name:26} {command} cannot be run"),
        }
    }
}

/// Four threads that read, add up and write, over eight variables: so many memory operations in all.
fn program(operations: usize) -> String {
    let mut text = (0..8).map(|v| format!("int v{v};\n")).collect::<String>();
    let mut random = 12_345_u64;
    let mut draw = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    for thread in 0..4 {
        text.push_str(&format!("thread T{thread} {{ int r;\n"));
        for _ in 0..operations / 8 {
            text.push_str(&format!("r = v{} + 1; v{} = r;\n", draw(8), draw(8)));
        }
        text.push_str("}\n");
    }
    text.push_str("exists (T0.r == 3 && T1.r == 5 && T2.r == 4)\n");
    text
}

fn sizes() {
    println!("\nis an outcome allowed under sc; z3 on the same formula, stopped after {Z3_LIMIT} s");
    for operations in [20, 50, 100, 200, 500] {
        let program = lang::compile(&program(operations), &Default::default()).expect("it is well formed");
        let start = Instant::now();
        let verdict = Checker::new(&program, Options::default()).condition_verdict();
        let ours = start.elapsed();
        let verdict = verdict.expect("it is small enough").expect("it asks");
        let z3 = z3(&program);
        let (z3_text, ratio) = match z3 {
            Other::Answer(answer, time) => {
                let agrees = if answer == verdict { "" } else { " DISAGREES" };
                (
                    format!("{:8.3} s{agrees}", time.as_secs_f64()),
                    format!("{:.0}", time.as_secs_f64() / ours.as_secs_f64()),
                )
            }
            Other::TimeOut => {
                ("no answer".to_owned(), format!("> {:.0}", Z3_LIMIT as f64 / ours.as_secs_f64()))
            }
            Other::NotRun => ("not run".to_owned(), "unknown".to_owned()),
        };
        let word = if verdict { "allowed" } else { "forbidden" };
        println!(
            "  {operations:4} operations  {word:9}  {:7.3} s   z3 {z3_text}   ratio {ratio}",
            ours.as_secs_f64()
        );
    }
}

/// What came of asking z3.
enum Other {
    /// Its answer, and how long it took.
    Answer(bool, Duration),
    /// The time was over.
    TimeOut,
    /// It is not installed, or does not take the question.
    NotRun,
}

fn z3(program: &ir::Program) -> Other {
    ask_z3(program).unwrap_or(Other::NotRun)
}

fn ask_z3(program: &ir::Program) -> Option<Other> {
    let timed = Timed::new(program, Options::default()).ok()?;
    let condition = timed.unfolding.condition?;
    let script = timed.unfolding.solver.to_smtlib(&[condition]).ok()?;
    let path = std::env::temp_dir().join(format!("bench-check-{}.smt2", std::process::id()));
    std::fs::write(&path, script).ok()?;
    let start = Instant::now();
    let output = Command::new("z3").arg(format!("-T:{Z3_LIMIT}")).arg(&path).output().ok();
    let time = start.elapsed();
    let _ = std::fs::remove_file(&path);
    let text = String::from_utf8_lossy(&output?.stdout).into_owned();
    match text.lines().next()? {
        "sat" => Some(Other::Answer(true, time)),
        "unsat" => Some(Other::Answer(false, time)),
        "timeout" => Some(Other::TimeOut),
        _ => None,
    }
}

fn litmus_tests() {
    let tests = cycles::tests(1000);
    println!("\n{} litmus tests from cycles of po, rf, co, fr and fences, on two threads", tests.len());
    for name in ["tso", "rc11"] {
        let model = Model::shipped(name).expect("it is shipped");
        let (next, allowed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let start = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while let Some(test) = tests.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let program = lang::compile(test, &Default::default()).expect("it is well formed");
                        let checker = Checker::new(&program, Options::default()).under(&model);
                        let verdict = checker.condition_verdict().expect("it is small").expect("it asks");
                        allowed.fetch_add(usize::from(verdict), Ordering::Relaxed);
                    }
                });
            }
        });
        let allowed = allowed.into_inner();
        println!("  {name:5} {:6.2} s, {allowed} of {} allowed", start.elapsed().as_secs_f64(), tests.len());
    }
}
