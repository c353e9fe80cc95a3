//! Functions: values, blocks, terminators.

use super::super::lex::{Line, Token};
use super::{ParseError, Reader};
use crate::{
    Block, BlockId, Function, Instruction, Parameter, ResultDef, ShapeId, Symbol, Terminator, Type, ValueId,
    ValueInfo,
};

/// The values of a function, in the order in which they are defined in the text.
#[derive(Default)]
pub(super) struct Values {
    defined: Vec<(ValueId, ValueInfo)>,
}

/// A value in front of `=` or in a list of parameters, its type not yet known.
pub(super) struct Defined {
    pub(super) value: ValueId,
    name: Option<Symbol>,
    pointee: Option<ShapeId>,
}

impl Values {
    pub(super) fn define(&mut self, defined: Defined, ty: Type) -> ValueId {
        self.defined.push((defined.value, ValueInfo { ty, name: defined.name, pointee: defined.pointee }));
        defined.value
    }

    /// The table of values. There are no more than were defined, whatever their numbers are.
    fn table(self) -> Result<Vec<ValueInfo>, String> {
        let mut table: Vec<Option<ValueInfo>> = vec![None; self.defined.len()];
        for (value, info) in self.defined {
            match table.get_mut(value.index()) {
                None => {
                    return Err(format!(
                        "values must be numbered from 0 on without gaps, but there is %{}",
                        value.0
                    ));
                }
                Some(Some(other)) if *other != info => {
                    return Err(format!("%{} is defined twice, with different names or types", value.0));
                }
                Some(slot) => *slot = Some(info),
            }
        }
        let last = table.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        table.truncate(last);
        match table.iter().position(Option::is_none) {
            Some(gap) => {
                Err(format!("nothing defines %{gap}; values must be numbered from 0 on without gaps"))
            }
            None => Ok(table.into_iter().flatten().collect()),
        }
    }
}

impl<'t> Reader<'t> {
    /// A function; `function` is taken already.
    pub(super) fn function(&mut self, mut line: Line<'t>) -> Result<(), ParseError> {
        let Token::Function(name, None) = line.peek() else { return Err(line.expected("a name, as in $f")) };
        let name = Symbol::from(&**name);
        line.take()?;
        let mut values = Values::default();
        line.mark('(')?;
        let parameters = line.list(')', |line| {
            let defined = defined(line)?;
            let ty = line.ty()?;
            Ok(Parameter { value: values.define(defined, ty) })
        })?;
        let mut results = vec![];
        if line.accept_mark('>')? {
            line.mark('(')?;
            results = line.list(')', result)?;
        }
        line.mark('{')?;
        let position = line.end_without_label()?;

        let mut blocks = vec![];
        let mut next = self.body_line()?;
        while next.accept_word("undefined")? {
            let defined = defined(&mut next)?;
            let ty = next.ty()?;
            values.define(defined, ty);
            next.end_without_label()?;
            next = self.body_line()?;
        }
        while !next.is_mark('}') {
            let number = blocks.len();
            if block_number(next.peek()) != Some(BlockId::new(number)) {
                return Err(next.expected(&format!("`b{number}:` or `}}`")));
            }
            next.take()?;
            next.mark(':')?;
            next.end_without_label()?;
            blocks.push(self.block(&mut values)?);
            next = self.body_line()?;
        }
        let values = values.table().map_err(|message| next.error(message))?;
        next.take()?;
        next.end_without_label()?;
        self.program.functions.push(Function { name, parameters, results, values, blocks, position });
        Ok(())
    }

    fn body_line(&mut self) -> Result<Line<'t>, ParseError> {
        self.lines.next()?.ok_or_else(|| self.lines.ended("the rest of the function and `}`"))
    }

    fn block(&mut self, values: &mut Values) -> Result<Block, ParseError> {
        let mut instructions = vec![];
        loop {
            let mut line = self.body_line()?;
            let mut defining = vec![];
            while let Token::Value(..) = line.peek() {
                defining.push(defined(&mut line)?);
                if !line.accept_mark(',')? {
                    line.mark('=')?;
                    break;
                }
            }
            if let Some(terminator) = self.terminator(&mut line, values, &mut defining)? {
                let (label, position) = line.end()?;
                return Ok(Block { instructions, terminator, position, label });
            }
            let (results, op) = self.op(&mut line, values, defining)?;
            let (label, position) = line.end()?;
            instructions.push(Instruction { results, op, position, label });
        }
    }

    /// A terminator, if the line is one.
    fn terminator(
        &mut self,
        line: &mut Line<'t>,
        values: &mut Values,
        defining: &mut Vec<Defined>,
    ) -> Result<Option<Terminator>, ParseError> {
        let Token::Word(word) = *line.peek() else { return Ok(None) };
        if !matches!(
            word,
            "jump" | "branch" | "switch" | "indirect_jump" | "invoke" | "return" | "resume" | "unreachable"
        ) {
            return Ok(None);
        }
        if word != "invoke" && !defining.is_empty() {
            return Err(line.expected("an operation that gives a result"));
        }
        line.take()?;
        Ok(Some(match word {
            "jump" => Terminator::Jump(block(line)?),
            "branch" => {
                let condition = self.operand(line)?;
                line.mark(',')?;
                let then = block(line)?;
                line.mark(',')?;
                Terminator::Branch { condition, then, otherwise: block(line)? }
            }
            "switch" => {
                let value = self.operand(line)?;
                line.mark('[')?;
                let cases = line.list(']', |line| {
                    let case = line.unsigned("a case")?;
                    line.mark(':')?;
                    Ok((case, block(line)?))
                })?;
                Terminator::Switch { value, cases, default: block(line)? }
            }
            "indirect_jump" => {
                let address = self.operand(line)?;
                line.mark('[')?;
                Terminator::IndirectJump { address, targets: line.list(']', block)? }
            }
            "invoke" => {
                let results = result_types(line, values, std::mem::take(defining))?;
                let (callee, arguments) = self.call(line)?;
                line.keyword("to")?;
                let normal = block(line)?;
                line.keyword("unwind")?;
                Terminator::Invoke { callee, arguments, results, normal, unwind: block(line)? }
            }
            "return" => Terminator::Return(self.operands(line)?),
            "resume" => Terminator::Resume,
            _ => Terminator::Unreachable,
        }))
    }
}

/// A value that is defined here.
fn defined(line: &mut Line<'_>) -> Result<Defined, ParseError> {
    let Token::Value(number, name) = line.peek() else {
        return Err(line.expected("a value, as in %3 or %3:name"));
    };
    let (value, name) = (ValueId(*number), name.as_deref().map(Symbol::from));
    line.take()?;
    let pointee = if let Token::Shape(_) = line.peek() { Some(line.shape()?) } else { None };
    Ok(Defined { value, name, pointee })
}

/// The types of the values in front of `=`: nothing, one, or several in parentheses.
pub(super) fn result_types(
    line: &mut Line<'_>,
    values: &mut Values,
    defining: Vec<Defined>,
) -> Result<Vec<ValueId>, ParseError> {
    let several = defining.len() > 1;
    let mut results = Vec::with_capacity(defining.len());
    for (index, defined) in defining.into_iter().enumerate() {
        if several {
            line.mark(if index == 0 { '(' } else { ',' })?;
        }
        results.push(values.define(defined, line.ty()?));
    }
    if several {
        line.mark(')')?;
    }
    Ok(results)
}

fn result(line: &mut Line<'_>) -> Result<ResultDef, ParseError> {
    let ty = line.ty()?;
    let name = if line.accept_mark(':')? { Some(line.name("a name")?) } else { None };
    Ok(ResultDef { ty, name, signed: line.accept_word("signed")? })
}

fn block_number(token: &Token<'_>) -> Option<BlockId> {
    let Token::Word(word) = token else { return None };
    word.strip_prefix('b')?.parse().ok().map(BlockId)
}

/// A block, by its number.
pub(super) fn block(line: &mut Line<'_>) -> Result<BlockId, ParseError> {
    let block = block_number(line.peek()).ok_or_else(|| line.expected("a block, as in b1"))?;
    line.take()?;
    Ok(block)
}
