//! Files as people and tools write them, and what is said of those that are wrong.

use crate::common::said;
use foreign::{Complaint, Format};
use std::path::Path;

/// RAPID's own example, with a block.
const STD: &str = "T0|r(V123)|345\nT1|w(V234.23[0])|456\nT0|fork(T2)|123\nT2|begin|119\nT2|acq(L34)|120\n\
                   T2|rel(L34)|130\nT2|end|131\nT0|join(T2)|134\n";

fn read(format: Format, text: &str) -> Vec<String> {
    let read = format.read(text.as_bytes());
    said(&read.unwrap_or_else(|wrong| panic!("{wrong:?}")), true)
}

fn wrong(format: Format, text: &str) -> Complaint {
    let mut all = format.read(text.as_bytes()).expect_err("it is wrong");
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

#[test]
fn the_example_of_rapid_is_read_in_all_formats() {
    let expected = [
        "T0 reads V123 false at Some(\"345\")",
        "T1 writes V234.23[0] false at Some(\"456\")",
        "T0 forks T2 at Some(\"123\")",
        "T2 begins at Some(\"119\")",
        "T2 acquires L34 at Some(\"120\")",
        "T2 releases L34 at Some(\"130\")",
        "T2 ends at Some(\"131\")",
        "T0 joins T2 at Some(\"134\")",
    ];
    assert_eq!(read(Format::Std, STD), expected);
    let columns =
        "r(V123),,\n,w(V234.23[0]),\nfork(T2),,\n,,enter(m)\n,,acq(L34)\n,,rel(L34)\n,,exit(m)\njoin(T2),,\n";
    let without_places =
        expected.map(|line| format!("{} at None", line.split(" at ").next().unwrap_or_default()));
    assert_eq!(read(Format::RapidCsv, columns), without_places);
    assert_eq!(read(Format::RapidCsv, &columns.replace("fork", "start")), without_places);
    let ours = "# by hand\nthread,operation,object,place\nT0,read,V123,345\nT1,write,V234.23[0],456\nT0,fork,T2,123\n\
                T2,begin,,119\nT2,acquire,L34,120\nT2,release,L34,130\nT2,end,,131\nT0,join,T2,134\n";
    assert_eq!(read(Format::Csv, ours), expected);
}

#[test]
fn what_is_written_is_what_rapid_reads() {
    let ours = "thread,operation,object,place\nmain,fork,\"a, b\",x.c:1\n\"a, b\",update,n,x.c:7\n\"a, b\",atomic-read,n,x.c:9\n";
    let recording = Format::Csv.read(ours.as_bytes()).expect("it is right");
    assert_eq!(Format::Csv.write(&recording), ours);
    let std = "main|fork(a__b)|1\na__b|acq(atomic(n))|2\na__b|r(n)|2\na__b|w(n)|2\na__b|rel(atomic(n))|2\n\
               a__b|acq(atomic(n))|3\na__b|r(n)|3\na__b|rel(atomic(n))|3\n";
    assert_eq!(Format::Std.write(&recording), std);
    let columns = Format::RapidCsv.write(&recording);
    assert_eq!(columns.lines().next(), Some("start(T1),"));
    assert_eq!(columns.lines().nth(3), Some(",w(n)"));
}

#[test]
fn formats_are_known_by_name_and_first_line() {
    let guess = |name: &str, text: &str| Format::guess(Path::new(name), text.as_bytes());
    assert_eq!(guess("a.std", "anything"), Some(Format::Std));
    assert_eq!(guess("a.CSV", "# x\n\nthread,operation,object,place\n"), Some(Format::Csv));
    assert_eq!(guess("a.csv", "r(x),\n"), Some(Format::RapidCsv));
    assert_eq!(guess("a.trace", "T0|r(x)|1"), None);
}

#[test]
fn lines_that_are_written_wrong_are_named_with_what_was_expected() {
    let cases = [
        (Format::Std, "T0|r(x)|1\nT0|r(x)\n", "line 2: 2 fields where there are three"),
        (Format::Std, "T0|r(x)|1|2\n", "line 1: 4 fields where there are three"),
        (Format::Std, "|r(x)|1\n", "line 1: a thread has no name"),
        (Format::Std, "\n\nT0|read(x)|1\n", "line 3: `read` is no operation"),
        (Format::Std, "T0|r|1\n", "line 1: `r` is no operation"),
        (Format::Std, "T0|r()|1\n", "line 1: `r` of nothing"),
        (Format::Std, "T0|r(a b)|1\n", "line 1: an operand with a space in it"),
        (Format::Std, "T0|start(T1)|1\n", "line 1: `start` is no operation"),
        (Format::RapidCsv, "r(x),w(x)\n", "line 1: two events in one line"),
        (Format::RapidCsv, ",,\n", "line 1: a line without an event"),
        (Format::Csv, "", "line 1: the file is empty"),
        (Format::Csv, "T0,read,x,1\n", "line 1: the first line does not name the columns"),
        (Format::Csv, "thread,operation,object,place\nT0,read\n", "line 2: 2 fields where there are four"),
        (Format::Csv, "thread,operation,object,place\nT0,rd,x,1\n", "line 2: `rd` is no operation"),
        (Format::Csv, "thread,operation,object,place\nT0,read,,1\n", "line 2: a variable has no name"),
        (Format::Csv, "thread,operation,object,place\n\"T0,read,,1\n", "line 2: this quote is never closed"),
        (
            Format::Csv,
            "thread,operation,object,place\n\"T0\"x,read,y,1\n",
            "line 2: something follows a field in quotes",
        ),
    ];
    for (format, text, expected) in cases {
        assert_eq!(wrong(format, text).to_string(), expected, "{text:?}");
    }
    let not_text = Format::Std.read(b"T0|r(x)|1\nT0|r(\xff)|1\n").expect_err("it is wrong");
    assert_eq!(not_text[0].to_string(), "line 2: the line is not text (it is not UTF-8)");
}

#[test]
fn no_more_is_said_of_a_file_that_is_something_else_than_somebody_reads() {
    let all = Format::Std.read("x\n".repeat(1000).as_bytes()).expect_err("it is wrong");
    assert_eq!(all.len(), foreign::MOST_COMPLAINTS);
}

#[test]
fn what_cannot_have_happened_is_named_with_the_line_that_says_why() {
    let cases = [
        ("T0|rel(l)|1", "line 1: T0 releases `l`, which nobody holds", 0),
        ("T0|acq(l)|1\nT0|rel(l)|2\nT0|rel(l)|3", "line 3: T0 releases `l`, which nobody holds", 1),
        ("T0|acq(l)|1\nT1|rel(l)|2", "line 2: T1 releases `l`, which T0 holds", 1),
        ("T0|acq(l)|1\nT0|acq(l)|1\nT0|rel(l)|2\nT1|acq(l)|2", "line 4: T1 acquires `l`, which T0 holds", 1),
        ("T0|fork(T1)|1\nT0|fork(T1)|2", "line 2: T1 is forked a second time", 1),
        ("T1|r(x)|1\nT0|fork(T1)|2", "line 2: T1 is forked after it has begun", 1),
        ("T0|join(T1)|1\nT0|fork(T1)|2", "line 2: T1 is forked after its end", 1),
        ("T0|fork(T0)|1", "line 1: T0 forks itself", 0),
        ("T0|join(T0)|1", "line 1: T0 waits for its own end", 0),
        ("T0|fork(T1)|1\nT0|join(T1)|2\nT1|r(x)|3", "line 3: T1 goes on after its end", 2),
        ("T0|begin|1\nT0|end|2\nT0|end|3", "line 3: T0 ends a block that has not begun", 0),
    ];
    for (text, expected, because) in cases {
        let complaint = wrong(Format::Std, text);
        assert_eq!(complaint.to_string(), expected);
        assert_eq!(complaint.other.map_or(0, |(line, _)| line), because, "{text:?}");
    }
}

#[test]
fn a_lock_may_be_taken_again_by_who_has_it() {
    read(Format::Std, "T0|acq(l)|1\nT0|acq(l)|2\nT0|rel(l)|3\nT0|rel(l)|4\nT1|acq(l)|5\nT1|rel(l)|6\n");
}

#[test]
fn threads_that_fork_each_other_too_deep_have_no_name() {
    let chain: String = (0..100).map(|n| format!("T{n}|fork(T{})|1\n", n + 1)).collect();
    let recording = Format::Std.read(chain.as_bytes()).expect("it can have happened");
    let complaint = foreign::StandIn::new(&recording, "deep.std").expect_err("64 bits are too few");
    assert_eq!((complaint.line, complaint.message.as_str()), (64, "T64 is one thread too many"));
}
