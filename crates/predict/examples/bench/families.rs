//! The programs of AV Table 1, written from what AV §6 says of them; generated, so that there is one for any number of threads.
//!
//! `atom001` and `atom002` are two patterns of bugs in the Apache web server: a check and the act that relies on it in two critical
//! sections, and a log whose buffer is read in one section and emptied in the next. The `a` variants add a flag and a condition
//! variable, so that nobody else comes between.
//!
//! `bank-…-N` has N clerks and N accounts; clerk i moves money from account i to account i + 1, with nested locks. In
//! `av` each change of an account is a read in one section and a write in another. `nav` has each clerk reserve both accounts first, by
//! a shared variable and a condition variable. `sav` reserves only the account that money is taken from: half of the violations are
//! left. Locks are the same in all three, so whoever looks at locks alone sees no difference.
//!
//! `main` writes every variable before it forks and after it has joined: these make the potential violations that fork and join
//! exclude (`orig-pavs` beside `hb-pavs`).

use std::fmt::Write as _;

/// A family of AV Table 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    Atom001,
    Atom001a,
    Atom002,
    Atom002a,
    BankAv,
    BankSav,
    BankNav,
}

/// One program of the table.
#[derive(Clone, Debug)]
pub struct Row {
    pub name: String,
    pub source: String,
    /// Whether the paper's kind of trace has the threads wait for each other: then they take turns, else each runs as far as it can.
    pub take_turns: bool,
}

impl Family {
    /// By its name, without the number of threads.
    #[allow(dead_code, reason = "the tests take all of them")]
    pub fn named(name: &str) -> Option<Family> {
        Some(match name {
            "atom001" => Family::Atom001,
            "atom001a" => Family::Atom001a,
            "atom002" => Family::Atom002,
            "atom002a" => Family::Atom002a,
            "bank-av" => Family::BankAv,
            "bank-sav" => Family::BankSav,
            "bank-nav" => Family::BankNav,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Family::Atom001 => "atom001",
            Family::Atom001a => "atom001a",
            Family::Atom002 => "atom002",
            Family::Atom002a => "atom002a",
            Family::BankAv => "bank-av",
            Family::BankSav => "bank-sav",
            Family::BankNav => "bank-nav",
        }
    }

    /// The program with so many clerks; the `atom` programs have always two threads beside `main`.
    pub fn row(self, threads: usize) -> Row {
        let (name, source) = match self {
            Family::Atom001 => (self.name().to_owned(), atom001(false)),
            Family::Atom001a => (self.name().to_owned(), atom001(true)),
            Family::Atom002 => (self.name().to_owned(), atom002(false)),
            Family::Atom002a => (self.name().to_owned(), atom002(true)),
            _ => (format!("{}-{threads}", self.name()), bank(self, threads)),
        };
        Row { name, source, take_turns: self == Family::BankNav }
    }
}

/// The 16 rows of the table.
pub fn table() -> Vec<Row> {
    let atoms = [Family::Atom001, Family::Atom001a, Family::Atom002, Family::Atom002a];
    let banks = [Family::BankAv, Family::BankSav, Family::BankNav];
    let atoms = atoms.into_iter().map(|family| family.row(2));
    atoms.chain(banks.into_iter().flat_map(|family| [2, 4, 6, 8].map(|n| family.row(n)))).collect()
}

/// What keeps others out of a transaction in the `a` variants: before it, and behind it.
const ENTER: &str = "    lock(m);\n    busy = 1;\n    unlock(m);\n";
const LEAVE: &str = "    lock(m);\n    busy = 0;\n    signal(free);\n    unlock(m);\n";
const WAIT: &str = "    while (busy)\n        wait(free, m);\n";

fn fixed(fixed: bool, words: &'static str) -> &'static str {
    if fixed { words } else { "" }
}

/// A worker looks whether there is a free slot, and takes it in another section.
fn atom001(is_fixed: bool) -> String {
    let declared = fixed(is_fixed, "int busy;\ncond free;\n");
    let (enter, leave, wait) = (fixed(is_fixed, ENTER), fixed(is_fixed, LEAVE), fixed(is_fixed, WAIT));
    format!(
        "int slots, served;\nmutex m;\n{declared}
fn worker() {{
{enter}    atomic {{
        lock(m);
        int s = slots;
        unlock(m);
        if (s > 0) {{
            lock(m);
            slots = s - 1;
            served = served + 1;
            unlock(m);
        }}
    }}
{leave}}}

fn manager() {{
    lock(m);
{wait}    slots = slots + 5;
    served = served + 1;
    unlock(m);
}}

main {{
    slots = 0;
    served = 0;
    slots = 10;
    served = 1;
    thread w = fork worker();
    thread g = fork manager();
    join(w);
    join(g);
    slots = 0;
    served = 0;
}}
"
    )
}

/// A log is written out in one section and emptied in the next; what was appended in between is lost.
fn atom002(is_fixed: bool) -> String {
    let declared = fixed(is_fixed, "int busy;\ncond free;\n");
    let (enter, leave, wait) = (fixed(is_fixed, ENTER), fixed(is_fixed, LEAVE), fixed(is_fixed, WAIT));
    format!(
        "int log[32], length, lines;\nint disk;\nmutex m;\n{declared}
fn rotate() {{
{enter}    atomic {{
        int i, sum;
        lock(m);
        sum = length;
        while (i < 32) bound 32 {{
            sum += log[i];
            i++;
        }}
        disk = sum;
        unlock(m);
        lock(m);
        i = 0;
        while (i < 32) bound 32 {{
            log[i] = 0;
            i++;
        }}
        length = 0;
        lines = lines + 1;
        unlock(m);
    }}
{leave}}}

fn append() {{
    lock(m);
{wait}    int i;
    while (i < 32) bound 32 {{
        log[i] = 'a' + i;
        i++;
    }}
    length = 32;
    lines = lines + 2;
    unlock(m);
}}

fn fill(int with) {{
    int i;
    while (i < 32) bound 32 {{
        log[i] = with;
        i++;
    }}
    length = with;
    lines = with;
}}

main {{
    fill(1);
    thread r = fork rotate();
    thread a = fork append();
    join(r);
    join(a);
    fill(0);
}}
"
    )
}

fn bank(family: Family, threads: usize) -> String {
    let mut text =
        format!("int balance[{threads}], turnover[{threads}];\nmutex account[{threads}];\nmutex ledger;\n");
    text.push_str(match family {
        Family::BankAv => "",
        _ => "mutex desk;\nint is_open;\ncond opened;\n",
    });
    let _ = match family {
        Family::BankSav => writeln!(text, "int reserved[{threads}];"),
        Family::BankNav => writeln!(text, "int reserved[{threads}];\ncond free;"),
        _ => Ok(()),
    };
    text.push_str(
        "
fn change(int i, int by, int amount) {
    lock(account[i]);
    int seen = balance[i];
    lock(ledger);
    int moved = turnover[i];
    unlock(ledger);
    unlock(account[i]);
    lock(account[i]);
    write(i, seen + by, moved + amount);
    unlock(account[i]);
}

fn write(int i, int new, int moved) {
    balance[i] = new;
    lock(ledger);
    turnover[i] = moved;
    unlock(ledger);
}
",
    );
    if family == Family::BankSav {
        text.push_str(
            "
fn deposit(int i, int amount) {
    lock(account[i]);
    int seen = balance[i];
    lock(ledger);
    int moved = turnover[i];
    unlock(ledger);
    unlock(account[i]);
    lock(account[i]);
    if (!reserved[i])
        write(i, seen + amount, moved + amount);
    unlock(account[i]);
}
",
        );
    }
    if family != Family::BankAv {
        text.push_str(
            "
fn come_in() {
    lock(desk);
    while (!is_open)
        wait(opened, desk);
    unlock(desk);
}
",
        );
    }
    text.push_str(clerk(family));
    let _ = write!(text, "\nmain {{\n    int i;\n    while (i < {threads}) bound {threads} {{\n");
    text.push_str("        balance[i] = 100;\n        turnover[i] = 0;\n        i++;\n    }\n");
    for n in 0..threads {
        let _ = writeln!(text, "    thread t{n} = fork clerk({n}, {}, {});", (n + 1) % threads, 10 + n);
    }
    if family != Family::BankAv {
        text.push_str("    lock(desk);\n    is_open = 1;\n    broadcast(opened);\n    unlock(desk);\n");
    }
    for n in 0..threads {
        let _ = writeln!(text, "    join(t{n});");
    }
    let _ = write!(text, "    i = 0;\n    while (i < {threads}) bound {threads} {{\n");
    text.push_str("        balance[i] = 0;\n        turnover[i] = 0;\n        i++;\n    }\n}\n");
    text
}

fn clerk(family: Family) -> &'static str {
    match family {
        Family::BankSav => {
            "
fn clerk(int from, int to, int amount) {
    come_in();
    lock(account[from]);
    reserved[from] = 1;
    unlock(account[from]);
    atomic {
        change(from, -amount, amount);
        lock(account[from]);
        reserved[from] = 0;
        unlock(account[from]);
        deposit(to, amount);
    }
}
"
        }
        Family::BankNav => {
            "
fn clerk(int from, int to, int amount) {
    come_in();
    lock(desk);
    while (reserved[from] || reserved[to])
        wait(free, desk);
    reserved[from] = 1;
    reserved[to] = 1;
    unlock(desk);
    atomic {
        change(from, -amount, amount);
        change(to, amount, amount);
    }
    lock(desk);
    reserved[from] = 0;
    reserved[to] = 0;
    broadcast(free);
    unlock(desk);
}
"
        }
        _ => {
            "
fn clerk(int from, int to, int amount) {
    atomic {
        change(from, -amount, amount);
        change(to, amount, amount);
    }
}
"
        }
    }
}
