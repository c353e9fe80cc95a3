//! The verifier: whether a program is well formed.
//!
//! Everything that works on programs may rely on what is checked here, and none of it may rely on more: ids
//! are in range, shapes are finite and not deep, each value is defined once and before its uses, types and
//! widths fit. The verifier itself relies on nothing, takes about linear time, and reports all it finds.

mod condition;
mod flow;
mod function;
mod tables;
mod types;

use crate::{BlockId, FunctionId, Position, Program, ShapeId};

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct VerifyError {
    /// Where, in words: `function $worker, block b2, instruction 3`; instructions count from 0.
    pub place: String,
    /// What is wrong.
    pub message: String,
}

/// More errors than anyone reads; also keeps what a hostile program can make us say small.
const MOST_ERRORS: usize = 200;

/// Checks that a program is well formed; the errors say what is wrong with it, the first 200 of them.
pub fn verify(program: &Program) -> Result<(), Vec<VerifyError>> {
    let mut verifier = Verifier { program, place: Place::Program, errors: vec![], layout: vec![] };
    verifier.tables();
    for (number, function) in program.functions.iter().enumerate() {
        verifier.function(FunctionId::new(number), function);
    }
    verifier.threads();
    verifier.final_condition();
    if verifier.errors.is_empty() { Ok(()) } else { Err(verifier.errors) }
}

/// Where the verifier is; put into words only for an error.
#[derive(Clone, Copy)]
enum Place {
    Program,
    Shape(usize),
    Global(usize),
    Function(FunctionId),
    Block(FunctionId, BlockId),
    Instruction(FunctionId, BlockId, usize),
    Terminator(FunctionId, BlockId),
    Thread(usize),
    FinalCondition,
}

struct Verifier<'p> {
    program: &'p Program,
    place: Place,
    errors: Vec<VerifyError>,
    /// What is known of each shape.
    layout: Vec<tables::Layout>,
}

/// Reports an error at the present place.
macro_rules! fail {
    ($verifier:expr, $($message:tt)*) => {
        $verifier.fail(format!($($message)*))
    };
}
use fail;

impl Verifier<'_> {
    fn fail(&mut self, message: String) {
        if self.errors.len() >= MOST_ERRORS {
            return;
        }
        let name = |id: FunctionId| self.program.functions.get(id.index()).map_or("?", |f| &*f.name);
        let place = match self.place {
            Place::Program => "program".into(),
            Place::Shape(number) => format!("shape #{number}"),
            Place::Global(number) => {
                format!("global @{}", self.program.globals.get(number).map_or("?", |g| &*g.name))
            }
            Place::Function(f) => format!("function ${}", name(f)),
            Place::Block(f, b) => format!("function ${}, block b{}", name(f), b.0),
            Place::Instruction(f, b, i) => format!("function ${}, block b{}, instruction {i}", name(f), b.0),
            Place::Terminator(f, b) => format!("function ${}, block b{}, its end", name(f), b.0),
            Place::Thread(number) => {
                format!("thread {}", self.program.threads.get(number).map_or("?", |t| &*t.name))
            }
            Place::FinalCondition => "final condition".into(),
        };
        self.errors.push(VerifyError { place, message });
    }

    fn position(&mut self, position: Option<Position>) {
        if let Some(position) = position
            && position.file.index() >= self.program.files.len()
        {
            fail!(
                self,
                "the position names file {}, but there are {}",
                position.file.0,
                self.program.files.len()
            );
        }
    }

    /// Whether there is such a shape; an error if not.
    fn shape_exists(&mut self, shape: ShapeId) -> bool {
        let exists = shape.index() < self.program.shapes.len();
        if !exists {
            fail!(self, "there is no shape #{}", shape.0);
        }
        exists
    }

    /// Whether there is such a function; an error if not.
    fn function_exists(&mut self, function: FunctionId) -> bool {
        let exists = function.index() < self.program.functions.len();
        if !exists {
            fail!(self, "there is no function number {}", function.0);
        }
        exists
    }
}
