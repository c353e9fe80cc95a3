//! Writing a query.

use crate::error::Result;
use crate::order::At;
use crate::problem::{LocationDecl, MatchingDecl, SectionDecl};
use crate::solver::Solver;
use crate::terms::walk::Task;
use crate::terms::{Bank, Bool, BoolNode, BoolRef, BvNode, BvRef};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Collects the text; terms are defined when first used.
struct Writer<'a> {
    bank: &'a Bank,
    declarations: String,
    body: String,
    points: BTreeSet<At>,
    bools: FxHashSet<usize>,
    bvs: FxHashSet<usize>,
}

impl Solver {
    /// The query "can all that is asserted hold together with these assumptions?" as an SMT-LIB 2 script.
    pub fn to_smtlib(&self, assumptions: &[Bool]) -> Result<String> {
        let terms: Vec<BoolRef> = assumptions.iter().map(|&a| self.own_bool(a)).collect::<Result<_>>()?;
        let mut w = Writer {
            bank: &self.bank,
            declarations: String::new(),
            body: String::new(),
            points: BTreeSet::new(),
            bools: FxHashSet::default(),
            bvs: FxHashSet::default(),
        };
        for &(a, b) in &self.problem.fixed {
            let edge = w.less(a, b);
            w.assert(&edge);
        }
        for &(condition, a, b) in &self.problem.edges_when {
            let (condition, edge) = (w.bool(condition), w.less(a, b));
            w.assert(&format!("(=> {condition} {edge})"));
        }
        self.problem.locations.iter().for_each(|l| w.location(l));
        self.problem.exclusions.iter().for_each(|s| w.exclusion(s));
        self.problem.matchings.iter().for_each(|m| w.matching(m));
        for &(term, _) in &self.problem.assertions {
            let term = w.bool(term);
            w.assert(&term);
        }
        let mut assumed = String::new();
        for (i, &term) in terms.iter().enumerate() {
            let term = w.bool(term);
            put(&mut w.body, format_args!("(declare-const assume{i} Bool)\n(assert (= assume{i} {term}))\n"));
            put(&mut assumed, format_args!(" assume{i}"));
        }
        Ok(w.finish(&assumed))
    }
}

/// Appends formatted text; writing to a string cannot fail.
fn put(text: &mut String, what: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(what);
}

fn point(at: At) -> String {
    format!("o{}.{}", at.chain, at.position)
}

impl Writer<'_> {
    fn finish(self, assumed: &str) -> String {
        let logic = if self.points.is_empty() { "QF_BV" } else { "ALL" };
        let mut text = format!("(set-logic {logic})\n");
        let mut last: Option<At> = None;
        for &at in &self.points {
            put(&mut text, format_args!("(declare-const {} Int)\n", point(at)));
            if let Some(previous) = last.filter(|p| p.chain == at.chain) {
                put(&mut text, format_args!("(assert (< {} {}))\n", point(previous), point(at)));
            }
            last = Some(at);
        }
        text.push_str(&self.declarations);
        text.push_str(&self.body);
        if assumed.is_empty() {
            text.push_str("(check-sat)\n");
        } else {
            put(&mut text, format_args!("(check-sat-assuming ({}))\n", assumed.trim_start()));
        }
        text
    }

    fn assert(&mut self, formula: &str) {
        put(&mut self.body, format_args!("(assert {formula})\n"));
    }

    fn less(&mut self, a: At, b: At) -> String {
        self.points.extend([a, b]);
        format!("(< {} {})", point(a), point(b))
    }

    fn location(&mut self, place: &LocationDecl) {
        let writes: Vec<(At, String, String)> =
            place.writes.iter().map(|w| (w.at, self.bv(w.value), self.bool(w.when))).collect();
        let initial = place.initial.map(|t| self.bv(t));
        for read in &place.reads {
            let (value, when) = (self.bv(read.value), self.bool(read.when));
            let mut choices = String::new();
            for source in 0..=writes.len() {
                let from = source.checked_sub(1).map(|i| &writes[i]);
                let mut parts = String::new();
                match from {
                    Some((at, _, _)) if *at == read.at => continue,
                    Some((at, stored, there)) => {
                        let edge = self.less(*at, read.at);
                        put(&mut parts, format_args!(" {there} {edge} (= {value} {stored})"));
                    }
                    None => match &initial {
                        Some(stored) => put(&mut parts, format_args!(" (= {value} {stored})")),
                        None => continue,
                    },
                }
                for (i, (other, _, there)) in writes.iter().enumerate() {
                    if i + 1 == source || *other == read.at {
                        continue;
                    }
                    let after = self.less(read.at, *other);
                    let before = from.map(|(at, _, _)| self.less(*other, *at)).unwrap_or_default();
                    put(&mut parts, format_args!(" (or (not {there}) {before} {after})"));
                }
                put(&mut choices, format_args!(" (and{parts})"));
            }
            let width = self.bank.width(read.value);
            self.assert(&format!("(=> {when} (or{choices} false))"));
            self.assert(&format!("(=> (not {when}) (= {value} (_ bv0 {width})))"));
        }
    }

    fn exclusion(&mut self, sections: &[SectionDecl]) {
        for (j, b) in sections.iter().enumerate() {
            for a in &sections[..j] {
                if a.shared && b.shared {
                    continue;
                }
                let first = a.end.map(|end| self.less(end, b.begin)).unwrap_or_default();
                let second = b.end.map(|end| self.less(end, a.begin)).unwrap_or_default();
                let (p, q) = (self.bool(a.when), self.bool(b.when));
                self.assert(&format!("(or (not {p}) (not {q}) {first} {second})"));
            }
        }
    }

    fn matching(&mut self, matching: &MatchingDecl) {
        for taker in &matching.takers {
            let when = self.bool(taker.when);
            let services: Vec<String> = taker.served_by.iter().map(|&s| self.bool(s)).collect();
            self.assert(&format!("(=> {when} (or {} false))", services.join(" ")));
            for (service, giver) in services.iter().zip(&matching.givers) {
                let there = self.bool(giver.when);
                self.assert(&format!("(=> {service} {there})"));
                if let Some(at) = giver.at {
                    let edge = self.less(at, taker.at);
                    self.assert(&format!("(=> {service} {edge})"));
                    if let Some(after) = taker.after {
                        let edge = self.less(after, at);
                        self.assert(&format!("(=> {service} {edge})"));
                    }
                }
            }
        }
        for (g, giver) in matching.givers.iter().enumerate().filter(|(_, g)| !g.many) {
            debug_assert!(!giver.many);
            let services: Vec<String> = matching.takers.iter().map(|t| self.bool(t.served_by[g])).collect();
            for (j, b) in services.iter().enumerate() {
                for a in &services[..j] {
                    self.assert(&format!("(or (not {a}) (not {b}))"));
                }
            }
        }
    }

    fn bool(&mut self, term: BoolRef) -> String {
        self.define(Task::Bool(term));
        self.bool_name(term)
    }

    fn bv(&mut self, term: BvRef) -> String {
        self.define(Task::Bv(term));
        self.bv_name(term)
    }

    fn bool_name(&self, term: BoolRef) -> String {
        let name = match self.bank.bool_node(term) {
            BoolNode::True => return (!term.negated()).to_string(),
            _ => format!("p{}", term.node()),
        };
        if term.negated() { format!("(not {name})") } else { name }
    }

    fn bv_name(&self, term: BvRef) -> String {
        match self.bank.bv_node(term) {
            BvNode::Const(value) => format!("(_ bv{value} {})", self.bank.width(term)),
            _ => format!("t{}", term.index()),
        }
    }

    /// Defines a term and all below it, children first.
    fn define(&mut self, task: Task) {
        let mut stack = vec![task];
        let bank = self.bank;
        while let Some(ready) = bank.next_ready(&mut stack, |t| self.knows(t)) {
            match ready {
                Task::Bool(t) => {
                    self.define_bool(t.positive());
                    self.bools.insert(t.node());
                }
                Task::Bv(t) => {
                    self.define_bv(t);
                    self.bvs.insert(t.index());
                }
            }
        }
    }

    fn knows(&self, task: Task) -> bool {
        match task {
            Task::Bool(t) => self.bools.contains(&t.node()),
            Task::Bv(t) => self.bvs.contains(&t.index()),
        }
    }

    fn define_bool(&mut self, term: BoolRef) {
        let name = self.bool_name(term);
        let b = |t: BoolRef| self.bool_name(t);
        let v = |t: BvRef| self.bv_name(t);
        let text = match self.bank.bool_node(term) {
            BoolNode::True => return,
            BoolNode::Var(_) => {
                put(&mut self.declarations, format_args!("(declare-const {name} Bool)\n"));
                return;
            }
            &BoolNode::Before(x, y) => {
                put(&mut self.declarations, format_args!("(declare-const {name} Bool)\n"));
                let (one, other) = (self.less(x, y), self.less(y, x));
                put(&mut self.declarations, format_args!("(assert (ite {name} {one} {other}))\n"));
                return;
            }
            BoolNode::And(parts) => {
                format!("(and {})", parts.iter().map(|&p| b(p)).collect::<Vec<_>>().join(" "))
            }
            &BoolNode::Ite(c, t, e) => format!("(ite {} {} {})", b(c), b(t), b(e)),
            &BoolNode::Iff(x, y) => format!("(= {} {})", b(x), b(y)),
            &BoolNode::Eq(x, y) => format!("(= {} {})", v(x), v(y)),
            &BoolNode::Ult(x, y) => format!("(bvult {} {})", v(x), v(y)),
            &BoolNode::Slt(x, y) => format!("(bvslt {} {})", v(x), v(y)),
        };
        put(&mut self.declarations, format_args!("(define-fun {name} () Bool {text})\n"));
    }

    fn define_bv(&mut self, term: BvRef) {
        let width = self.bank.width(term);
        let name = self.bv_name(term);
        let v = |t: BvRef| self.bv_name(t);
        let two = |op: &str, a: BvRef, b: BvRef| format!("({op} {} {})", v(a), v(b));
        let text = match *self.bank.bv_node(term) {
            BvNode::Const(_) => return,
            BvNode::Var(_) => {
                put(&mut self.declarations, format_args!("(declare-const {name} (_ BitVec {width}))\n"));
                return;
            }
            BvNode::Sum { constant, ref addends } => {
                let products = addends.iter().map(|&(t, f)| match f {
                    1 => v(t),
                    _ => format!("(bvmul (_ bv{f} {width}) {})", v(t)),
                });
                products.fold(format!("(_ bv{constant} {width})"), |sum, p| format!("(bvadd {sum} {p})"))
            }
            BvNode::Mul(a, b) => two("bvmul", a, b),
            BvNode::Udiv(a, b) => two("bvudiv", a, b),
            BvNode::Urem(a, b) => two("bvurem", a, b),
            BvNode::Not(a) => format!("(bvnot {})", v(a)),
            BvNode::And(a, b) => two("bvand", a, b),
            BvNode::Or(a, b) => two("bvor", a, b),
            BvNode::Xor(a, b) => two("bvxor", a, b),
            BvNode::Shl(a, b) => two("bvshl", a, b),
            BvNode::Lshr(a, b) => two("bvlshr", a, b),
            BvNode::Ashr(a, b) => two("bvashr", a, b),
            BvNode::Concat(a, b) => two("concat", a, b),
            BvNode::Extract(a, high, low) => format!("((_ extract {high} {low}) {})", v(a)),
            BvNode::ZeroExtend(a) => format!("((_ zero_extend {}) {})", width - self.bank.width(a), v(a)),
            BvNode::SignExtend(a) => format!("((_ sign_extend {}) {})", width - self.bank.width(a), v(a)),
            BvNode::Ite(c, t, e) => format!("(ite {} {} {})", self.bool_name(c), v(t), v(e)),
        };
        put(&mut self.declarations, format_args!("(define-fun {name} () (_ BitVec {width}) {text})\n"));
    }
}
