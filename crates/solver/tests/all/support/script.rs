//! Random SMT-LIB scripts that declare, assert, open and close scopes, and ask in between. A script is a list of
//! commands; each draws its names and operators from a seed of its own among what is declared where it stands, so
//! that any sublist is again a valid script: that makes shrinking simple.

use super::rng::Rng;
use std::fmt::Write;

#[derive(Clone, Debug)]
pub enum Command {
    /// A constant: a point (`Int`), a Boolean or a word.
    Declare(Sort),
    /// A definition by a formula, with order in it or without, or by a word.
    Define(Sort, u64),
    /// Two points in order, for as long as the scope is open.
    Order(u64),
    Formula(u64),
    /// A read of some location with some writes, as other solvers are told about memory.
    Read(u64),
    Push(usize),
    Pop(usize),
    Check,
    CheckAssuming(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    Point,
    Bool,
    Word,
}

#[derive(Clone, Debug)]
pub struct RandomScript {
    pub width: u32,
    pub commands: Vec<Command>,
}

/// A script as text, cut after each question.
pub struct Rendered {
    pub pieces: Vec<Piece>,
}

pub struct Piece {
    pub text: String,
    /// What the question at the end assumes, as conjuncts.
    pub assumed: Vec<String>,
}

impl Rendered {
    pub fn text(&self) -> String {
        self.pieces.iter().map(|p| p.text.as_str()).collect()
    }
}

impl RandomScript {
    pub fn new(rng: &mut Rng) -> RandomScript {
        let width = 1 + rng.below(5) as u32;
        let mut commands = Vec::new();
        for _ in 0..2 + rng.below(6) {
            commands.push(Command::Declare(Sort::Point));
        }
        for _ in 0..1 + rng.below(3) {
            commands.push(Command::Declare([Sort::Bool, Sort::Word][rng.below(2)]));
        }
        // What is put in line before the first question becomes a chain of the reader.
        for _ in 0..rng.below(6) {
            commands.push(Command::Order(rng.next()));
        }
        for _ in 0..4 + rng.below(28) {
            commands.push(match rng.below(100) {
                0..12 => Command::Declare([Sort::Point, Sort::Bool, Sort::Word][rng.below(3)]),
                12..22 => Command::Define([Sort::Point, Sort::Bool, Sort::Word][rng.below(3)], rng.next()),
                22..34 => Command::Order(rng.next()),
                34..56 => Command::Formula(rng.next()),
                56..64 => Command::Read(rng.next()),
                64..73 => Command::Push(1 + rng.below(4) / 3),
                73..82 => Command::Pop(1 + rng.below(4) / 3),
                82..89 => Command::Check,
                _ => Command::CheckAssuming(rng.next()),
            });
        }
        commands.push(Command::CheckAssuming(rng.next()));
        commands.push(Command::Check);
        RandomScript { width, commands }
    }

    /// Smaller scripts to try when this one fails.
    pub fn smaller(&self) -> Vec<RandomScript> {
        let mut all = Vec::new();
        for i in (0..self.commands.len()).rev() {
            let mut less = self.clone();
            less.commands.remove(i);
            all.push(less);
        }
        all
    }

    pub fn render(&self) -> Rendered {
        let mut writer = Writer { width: self.width, ..Writer::default() };
        self.commands.iter().for_each(|c| writer.command(c));
        Rendered { pieces: writer.pieces }
    }
}

/// The names that are there. Those of a closed scope are given again, to whatever comes next.
#[derive(Clone, Default)]
struct Names {
    points: Vec<String>,
    bools: Vec<String>,
    /// Definitions that mention order: they may not be negated.
    orders: Vec<String>,
    words: Vec<String>,
}

#[derive(Default)]
struct Writer {
    width: u32,
    names: Names,
    outside: Vec<Names>,
    text: String,
    pieces: Vec<Piece>,
}

fn pick<'a>(rng: &mut Rng, names: &'a [String]) -> Option<&'a str> {
    if names.is_empty() { None } else { Some(&names[rng.below(names.len())]) }
}

impl Writer {
    fn put(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.text, "{line}").unwrap();
    }

    fn fresh(&self) -> String {
        let Names { points, bools, orders, words } = &self.names;
        format!("x{}", points.len() + bools.len() + orders.len() + words.len())
    }

    fn ask(&mut self, assumed: Vec<String>) {
        self.pieces.push(Piece { text: std::mem::take(&mut self.text), assumed });
    }

    fn command(&mut self, command: &Command) {
        let (name, width) = (self.fresh(), self.width);
        match command {
            Command::Declare(Sort::Point) => {
                self.put(format_args!("(declare-const {name} Int)"));
                self.names.points.push(name);
            }
            Command::Declare(Sort::Bool) => {
                self.put(format_args!("(declare-fun {name} () Bool)"));
                self.names.bools.push(name);
            }
            Command::Declare(Sort::Word) => {
                self.put(format_args!("(declare-const {name} (_ BitVec {width}))"));
                self.names.words.push(name);
            }
            Command::Define(sort, seed) => self.define(name, *sort, &mut Rng::new(*seed)),
            Command::Order(seed) => {
                let rng = &mut Rng::new(*seed);
                let order = self.order(rng);
                self.put(format_args!("(assert {order})"));
            }
            Command::Formula(seed) => {
                let formula = self.formula(&mut Rng::new(*seed), 3, true);
                self.put(format_args!("(assert {formula})"));
            }
            Command::Read(seed) => self.read(&mut Rng::new(*seed)),
            Command::Push(count) => {
                self.put(format_args!("(push {count})"));
                (0..*count).for_each(|_| self.outside.push(self.names.clone()));
            }
            Command::Pop(count) => {
                let count = (*count).min(self.outside.len());
                self.put(format_args!("(pop {count})"));
                for _ in 0..count {
                    self.names = self.outside.pop().unwrap();
                }
            }
            Command::Check => {
                self.put(format_args!("(check-sat)"));
                self.ask(vec![]);
            }
            Command::CheckAssuming(seed) => {
                let rng = &mut Rng::new(*seed);
                let mut assumed = Vec::new();
                for _ in 0..rng.below(4) {
                    let negated = rng.chance(40);
                    if let Some(name) = pick(rng, &self.names.bools) {
                        assumed.push(if negated { format!("(not {name})") } else { name.to_string() });
                    }
                }
                self.put(format_args!("(check-sat-assuming ({}))", assumed.join(" ")));
                self.ask(assumed);
            }
        }
    }

    fn define(&mut self, name: String, sort: Sort, rng: &mut Rng) {
        let (sort, body) = match sort {
            Sort::Word => (format!("(_ BitVec {})", self.width), self.word(rng, 2)),
            _ => ("Bool".to_string(), self.formula(rng, 2, sort == Sort::Point)),
        };
        self.put(format_args!("(define-fun {name} () {sort} {body})"));
        // What may mention order counts as if it did.
        match sort.as_str() {
            "Bool" if body.contains('<') || self.names.orders.iter().any(|o| mentions(&body, o)) => {
                self.names.orders.push(name);
            }
            "Bool" => self.names.bools.push(name),
            _ => self.names.words.push(name),
        }
    }

    fn order(&self, rng: &mut Rng) -> String {
        match (pick(rng, &self.names.points), pick(rng, &self.names.points)) {
            (Some(a), Some(b)) if a != b => format!("(< {a} {b})"),
            _ => "true".into(),
        }
    }

    /// A formula; one that is `positive` may mention order.
    fn formula(&self, rng: &mut Rng, depth: usize, positive: bool) -> String {
        let leaf = depth == 0 || rng.chance(25);
        let below = depth.saturating_sub(1);
        match rng.below(if leaf { 4 } else { 11 }) {
            0 if positive => self.order(rng),
            1 if positive => match pick(rng, &self.names.orders) {
                Some(name) => name.to_string(),
                None => self.order(rng),
            },
            2 => {
                let op = ["=", "distinct", "bvult", "bvsle", "bvsgt", "bvuge"][rng.below(6)];
                format!("({op} {} {})", self.word(rng, 1), self.word(rng, 1))
            }
            0..4 => match pick(rng, &self.names.bools) {
                Some(name) => name.to_string(),
                None => "true".into(),
            },
            4 => {
                let condition = self.formula(rng, below, false);
                format!("(=> {condition} {})", self.formula(rng, below, positive))
            }
            5 => {
                let condition = self.formula(rng, below, false);
                let then = self.formula(rng, below, positive);
                format!("(ite {condition} {then} {})", self.formula(rng, below, positive))
            }
            6 => format!("(not {})", self.formula(rng, below, false)),
            7 => {
                let op = ["=", "xor"][rng.below(2)];
                format!("({op} {} {})", self.formula(rng, below, false), self.formula(rng, below, false))
            }
            kind => {
                let op = if kind == 8 { "and" } else { "or" };
                let parts: Vec<String> =
                    (0..2 + rng.below(2)).map(|_| self.formula(rng, below, positive)).collect();
                format!("({op} {})", parts.join(" "))
            }
        }
    }

    fn word(&self, rng: &mut Rng, depth: usize) -> String {
        let below = depth.saturating_sub(1);
        match rng.below(if depth == 0 { 3 } else { 6 }) {
            0 => format!("(_ bv{} {})", rng.next() % (1 << self.width), self.width),
            1 | 2 => match pick(rng, &self.names.words) {
                Some(name) => name.to_string(),
                None => format!("(_ bv1 {})", self.width),
            },
            3 => {
                let condition = self.formula(rng, 1, false);
                format!("(ite {condition} {} {})", self.word(rng, below), self.word(rng, below))
            }
            _ => {
                let op =
                    ["bvadd", "bvsub", "bvmul", "bvand", "bvxor", "bvshl", "bvudiv", "bvsrem"][rng.below(8)];
                format!("({op} {} {})", self.word(rng, below), self.word(rng, below))
            }
        }
    }

    fn read(&mut self, rng: &mut Rng) {
        let Some(value) = pick(rng, &self.names.words).map(str::to_string) else { return };
        let mut points: Vec<String> = Vec::new();
        for _ in 0..2 + rng.below(3) {
            if let Some(name) = pick(rng, &self.names.points)
                && !points.iter().any(|p| p == name)
            {
                points.push(name.to_string());
            }
        }
        let Some((read, writes)) = points.split_first() else { return };
        let mut choices = String::new();
        for write in writes {
            let stored = self.word(rng, 1);
            write!(choices, " (and (< {write} {read}) (= {value} {stored})").unwrap();
            for other in writes.iter().filter(|o| *o != write) {
                write!(choices, " (or (< {other} {write}) (< {read} {other}))").unwrap();
            }
            choices.push(')');
        }
        let when = self.formula(rng, 0, false);
        self.put(format_args!("(assert (=> {when} (or{choices} false)))"));
    }
}

/// Whether a text has the name as a word of its own.
fn mentions(text: &str, name: &str) -> bool {
    text.split([' ', '(', ')']).any(|word| word == name)
}
