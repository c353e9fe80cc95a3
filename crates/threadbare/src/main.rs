//! The command line of Threadbare: one file per subcommand, no algorithms.

mod cli;
mod command;
mod compiled;
mod exit;
mod foreign_trace;
mod load;
mod output;
mod prediction;
mod store;

use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<std::ffi::OsString> = std::env::args_os().collect();
    let result = match command::cc::asked(&words) {
        Some((language, rest)) => command::cc::compile(language, rest),
        None => run(cli::Arguments::parse_from(words).command),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => {
            output::error(&error);
            exit::Exit::BadInput.into()
        }
    }
}

fn run(command: cli::Command) -> anyhow::Result<exit::Exit> {
    match command {
        cli::Command::Run(arguments) => command::run::run(&arguments),
        cli::Command::Record(arguments) => command::record::record(&arguments),
        cli::Command::Predict(arguments) => command::predict::predict(&arguments),
        cli::Command::Ctp(arguments) => command::ctp::ctp(&arguments),
        cli::Command::Export(arguments) => command::export::export(&arguments),
        cli::Command::Replay(arguments) => command::replay::replay(arguments),
        cli::Command::List => command::kept::list(),
        cli::Command::Show(arguments) => command::kept::show(&arguments),
        cli::Command::Clean(arguments) => command::kept::clean(&arguments),
        cli::Command::Doctor => command::doctor::doctor(),
        cli::Command::Check(arguments) => command::check::check(&arguments),
        cli::Command::Explore(arguments) => command::explore::explore(&arguments),
        cli::Command::Fmt(arguments) => command::fmt::fmt(&arguments),
        cli::Command::Trace(arguments) => command::trace::trace(&arguments),
        cli::Command::Solve(arguments) => command::solve::solve(&arguments),
        cli::Command::Ir(arguments) => command::ir::ir(&arguments),
        cli::Command::Completions(arguments) => command::generate::completions(&arguments),
        cli::Command::Man(arguments) => command::generate::man(&arguments),
        cli::Command::Cc(arguments) => command::cc::compile(native::cc::Language::C, &arguments.arguments),
        cli::Command::Cxx(arguments) => command::cc::compile(native::cc::Language::Cxx, &arguments.arguments),
    }
}
