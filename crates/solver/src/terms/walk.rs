//! Walking through terms, children first, without recursion: terms can be deep.

use super::{Bank, BoolNode, BoolRef, BvNode, BvRef};

/// A term of either sort.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Task {
    Bool(BoolRef),
    Bv(BvRef),
}

impl Bank {
    /// The next term on the stack, or below one, that is not known while all its children are. The caller makes it
    /// known and asks again, until there is none.
    pub(crate) fn next_ready(&self, stack: &mut Vec<Task>, known: impl Fn(Task) -> bool) -> Option<Task> {
        while let Some(&task) = stack.last() {
            let depth = stack.len();
            if !known(task) {
                let push = |child: Task| {
                    if !known(child) {
                        stack.push(child);
                    }
                };
                match task {
                    Task::Bool(t) => self.bool_children(t, push),
                    Task::Bv(t) => self.bv_children(t, push),
                }
                if stack.len() == depth {
                    stack.pop();
                    return Some(task);
                }
            } else {
                stack.pop();
            }
        }
        None
    }

    pub(crate) fn bool_children(&self, term: BoolRef, mut visit: impl FnMut(Task)) {
        match self.bool_node(term) {
            BoolNode::True | BoolNode::Var(_) | BoolNode::Before(..) => {}
            BoolNode::And(parts) => parts.iter().for_each(|&p| visit(Task::Bool(p))),
            &BoolNode::Ite(c, t, e) => [c, t, e].into_iter().for_each(|p| visit(Task::Bool(p))),
            &BoolNode::Iff(a, b) => [a, b].into_iter().for_each(|p| visit(Task::Bool(p))),
            &BoolNode::Eq(a, b) | &BoolNode::Ult(a, b) | &BoolNode::Slt(a, b) => {
                [a, b].into_iter().for_each(|p| visit(Task::Bv(p)));
            }
        }
    }

    pub(crate) fn bv_children(&self, term: BvRef, mut visit: impl FnMut(Task)) {
        match *self.bv_node(term) {
            BvNode::Const(_) | BvNode::Var(_) => {}
            BvNode::Sum { ref addends, .. } => addends.iter().for_each(|&(t, _)| visit(Task::Bv(t))),
            BvNode::Not(a) | BvNode::Extract(a, _, _) | BvNode::ZeroExtend(a) | BvNode::SignExtend(a) => {
                visit(Task::Bv(a));
            }
            BvNode::Mul(a, b)
            | BvNode::Udiv(a, b)
            | BvNode::Urem(a, b)
            | BvNode::And(a, b)
            | BvNode::Or(a, b)
            | BvNode::Xor(a, b)
            | BvNode::Shl(a, b)
            | BvNode::Lshr(a, b)
            | BvNode::Ashr(a, b)
            | BvNode::Concat(a, b) => [a, b].into_iter().for_each(|p| visit(Task::Bv(p))),
            BvNode::Ite(c, t, e) => {
                visit(Task::Bool(c));
                [t, e].into_iter().for_each(|p| visit(Task::Bv(p)));
            }
        }
    }
}
