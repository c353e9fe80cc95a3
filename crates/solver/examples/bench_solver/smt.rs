//! The trace for SMT solvers, with read-from selectors (the encoding that suits them best in our measurements).

use super::trace::{Action, Relation, Trace};
use std::fmt::Write;

/// Sorts of order and of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Both integers.
    Integers,
    /// Order as integers, values as bit-vectors of 32 bits.
    Mixed,
    /// Both bit-vectors.
    BitVectors,
}

struct Writer<'a> {
    trace: &'a Trace,
    style: Style,
    text: String,
}

/// A script with one `check-sat-assuming` per candidate.
pub fn script(trace: &Trace, style: Style) -> String {
    let mut writer = Writer { trace, style, text: String::new() };
    writer.run();
    writer.text
}

impl Writer<'_> {
    fn put(&mut self, what: std::fmt::Arguments<'_>) {
        self.text.write_fmt(what).expect("writing to a string cannot fail");
        self.text.push('\n');
    }

    /// "a before b": decided along a thread, else a comparison. `None` is the cut.
    fn before(&self, a: Option<usize>, b: Option<usize>) -> String {
        if let (Some(a), Some(b)) = (a, b)
            && self.trace.events[a].thread == self.trace.events[b].thread
        {
            return (a < b).to_string();
        }
        let name = |e: Option<usize>| e.map_or("cut".to_string(), |e| format!("o{e}"));
        let less = if self.style == Style::BitVectors { "bvult" } else { "<" };
        format!("({less} {} {})", name(a), name(b))
    }

    fn constant(&self, value: i64) -> String {
        match (self.style, value) {
            (Style::Integers, 0..) => value.to_string(),
            (Style::Integers, _) => format!("(- {})", -value),
            _ => format!("#x{:08x}", value as u32),
        }
    }

    fn value(&self, write: Option<usize>, variable: usize) -> String {
        match write.map(|w| self.trace.events[w].action) {
            Some(Action::WriteConstant(_, constant)) => self.constant(constant),
            Some(Action::WriteSum(_, read, constant)) => {
                let add = if self.style == Style::Integers { "+" } else { "bvadd" };
                format!("({add} v{read} {})", self.constant(constant))
            }
            _ => self.constant(self.trace.initial[variable]),
        }
    }

    fn run(&mut self) {
        let trace = self.trace;
        let count = trace.events.len();
        let bits = usize::BITS - (count + 2).leading_zeros();
        let logic = match self.style {
            Style::Integers => "QF_LIA",
            Style::Mixed => "ALL",
            Style::BitVectors => "QF_BV",
        };
        self.put(format_args!("(set-logic {logic})"));
        let order_sort =
            if self.style == Style::BitVectors { format!("(_ BitVec {bits})") } else { "Int".into() };
        let value_sort = if self.style == Style::Integers { "Int" } else { "(_ BitVec 32)" };
        self.put(format_args!("(declare-const cut {order_sort})"));
        let mut last: Vec<Option<usize>> = vec![None; trace.threads];
        let mut writes: Vec<Vec<usize>> = vec![Vec::new(); trace.initial.len()];
        let less = if self.style == Style::BitVectors { "bvult" } else { "<" };
        for (i, event) in trace.events.iter().enumerate() {
            self.put(format_args!("(declare-const o{i} {order_sort})"));
            if let Some(previous) = last[event.thread].replace(i) {
                self.put(format_args!("(assert ({less} o{previous} o{i}))"));
            }
            match event.action {
                Action::Read(_) => self.put(format_args!("(declare-const v{i} {value_sort})")),
                Action::WriteConstant(x, _) | Action::WriteSum(x, _, _) => writes[x].push(i),
                _ => {}
            }
        }
        let mut open: Vec<Option<usize>> = vec![None; trace.locks];
        let mut sections: Vec<Vec<(usize, usize)>> = vec![Vec::new(); trace.locks];
        for (i, event) in trace.events.iter().enumerate() {
            match event.action {
                Action::Read(x) => self.read(i, x, &writes[x]),
                Action::Branch(read, relation, constant) => self.branch(i, read, relation, constant),
                Action::Acquire(lock) => open[lock] = Some(i),
                Action::Release(lock) => sections[lock].extend(open[lock].take().map(|begin| (begin, i))),
                _ => {}
            }
        }
        for sections in &sections {
            for (j, b) in sections.iter().enumerate() {
                for a in &sections[..j] {
                    if trace.events[a.0].thread == trace.events[b.0].thread {
                        continue;
                    }
                    let parts = [
                        self.before(Some(a.1), Some(b.0)),
                        self.before(Some(b.1), Some(a.0)),
                        self.before(None, Some(a.0)),
                        self.before(None, Some(b.0)),
                    ];
                    self.put(format_args!("(assert (or {}))", parts.join(" ")));
                }
            }
        }
        for (i, &[a, b, c]) in trace.candidates.iter().enumerate() {
            let parts =
                [self.before(Some(a), Some(b)), self.before(Some(b), Some(c)), self.before(Some(c), None)];
            self.put(format_args!("(declare-const q{i} Bool)\n(assert (=> q{i} (and {})))", parts.join(" ")));
        }
        for i in 0..trace.candidates.len() {
            self.put(format_args!("(check-sat-assuming (q{i}))"));
        }
    }

    fn read(&mut self, read: usize, variable: usize, writes: &[usize]) {
        let thread = |e: usize| self.trace.events[e].thread;
        let own = writes.iter().copied().rfind(|&w| thread(w) == thread(read) && w < read);
        let others = writes.iter().copied().filter(|&w| thread(w) != thread(read));
        let sources: Vec<Option<usize>> = std::iter::once(own).chain(others.map(Some)).collect();
        let mut some = vec![self.before(None, Some(read))];
        for (i, &source) in sources.iter().enumerate() {
            let selector = format!("r{read}_{i}");
            self.put(format_args!("(declare-const {selector} Bool)"));
            let value = self.value(source, variable);
            self.put(format_args!("(assert (=> {selector} (= v{read} {value})))"));
            if let Some(write) = source {
                let edge = self.before(Some(write), Some(read));
                self.put(format_args!("(assert (=> {selector} {edge}))"));
            }
            for &other in sources.iter().flatten().filter(|&&o| Some(o) != source) {
                let earlier = source.map_or("false".into(), |s| self.before(Some(other), Some(s)));
                let later = self.before(Some(read), Some(other));
                if earlier != "true" && later != "true" {
                    self.put(format_args!("(assert (=> {selector} (or {earlier} {later})))"));
                }
            }
            some.push(selector);
        }
        self.put(format_args!("(assert (or {}))", some.join(" ")));
    }

    fn branch(&mut self, event: usize, read: usize, relation: Relation, constant: i64) {
        let constant = self.constant(constant);
        let op = match (relation, self.style) {
            (Relation::Equal, _) => "=",
            (Relation::NotEqual, _) => "distinct",
            (Relation::AtLeast, Style::Integers) => ">=",
            (Relation::AtMost, Style::Integers) => "<=",
            (Relation::AtLeast, _) => "bvsge",
            (Relation::AtMost, _) => "bvsle",
        };
        let outside = self.before(None, Some(event));
        self.put(format_args!("(assert (or {outside} ({op} v{read} {constant})))"));
    }
}
