//! `threadbare ir`: print the program IR.

use crate::cli::IrArguments;
use crate::exit::Exit;
use crate::output::Rendered;
use crate::{load, output};

pub fn ir(arguments: &IrArguments) -> anyhow::Result<Exit> {
    let program = load::program(&arguments.program, &arguments.options)?;
    if let Err(errors) = ir::verify(&program) {
        let name = arguments.program.display();
        let lines: Vec<String> = errors.iter().map(|error| format!("error: {name}: {error}")).collect();
        return Err(anyhow::Error::new(Rendered(lines.join("\n"))));
    }
    output::print(&ir::print(&program))?;
    Ok(Exit::Clean)
}
