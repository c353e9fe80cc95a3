//! The page as text: its elements are closed, it loads nothing, and nothing that comes from outside becomes part of it.
#![allow(clippy::unwrap_used, reason = "tests")]

use ir::{Program, SiteId};
use report::{Description, Kind, Place, Recorded, Report, Sources};
use trace::{EventId, ExcerptRow, ThreadId};

/// What somebody might call a thread, write into a comment or print.
const HOSTILE: &str =
    "</script><script>alert(1)</script><!-- <img src=x onerror='alert(2)'> \" & `x` \u{2028}]]>";

fn row(number: u64, text: &str) -> ExcerptRow {
    ExcerptRow {
        number,
        event: EventId { thread: ThreadId::MAIN, n: number },
        thread: HOSTILE.to_owned(),
        file: Some(HOSTILE.to_owned()),
        line: Some(2),
        text: text.to_owned(),
        marked: number == 1,
        left_out: number,
    }
}

/// A finding all of whose words are hostile.
fn finding() -> Description {
    let place = Place {
        site: SiteId(0),
        at: HOSTILE.to_owned(),
        thread: HOSTILE.to_owned(),
        label: HOSTILE.to_owned(),
        primary: true,
    };
    Description {
        kind: Kind::DataRace,
        title: HOSTILE.to_owned(),
        location: Some(HOSTILE.to_owned()),
        places: vec![place],
        rows: vec![row(1, HOSTILE), row(2, "read x = 1")],
        ended: Some(HOSTILE.to_owned()),
        recorded: Some(Recorded { rows: vec![row(1, "read x = 0")], ended: HOSTILE.to_owned() }),
        why: vec![HOSTILE.to_owned()],
        consequence: Some(HOSTILE.to_owned()),
        fails_at: Some(SiteId(0)),
        unconfirmed: Some(HOSTILE.to_owned()),
        others: 1,
        replayable: true,
        engine: Some(claim::Engine::Symbolic),
        schedule: HOSTILE.to_owned(),
        steps: 3,
        output: Some(HOSTILE.to_owned()),
        command: Some(HOSTILE.to_owned()),
        fingerprint: 7,
    }
}

/// A program whose file has a hostile name and text.
fn program() -> (Program, String) {
    let source = format!("int x;\nthread T {{ x = 1; // {HOSTILE}\n}}\n");
    let options = lang::LowerOptions { path: HOSTILE.to_owned(), ..Default::default() };
    (lang::compile(&source, &options).unwrap(), source)
}

fn page(findings: Vec<Description>) -> String {
    let (program, source) = program();
    let sources = Sources::new(&program, false, |_| Some(source.clone()));
    let report = Report {
        subject: HOSTILE.to_owned(),
        recorded: vec![HOSTILE.to_owned()],
        silent: findings.clone(),
        findings,
        unknown: vec![(HOSTILE.to_owned(), 1)],
        ..Report::default()
    };
    report::html(&report, &sources)
}

/// The start tags of a page, as they stand there; panics where elements are not closed in their order.
fn tags(page: &str) -> Vec<&str> {
    let mut open: Vec<&str> = vec![];
    let mut found = vec![];
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let end = at + rest[at..].find('>').expect("a tag ends");
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        let name = tag.split([' ', '\n']).next().unwrap();
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "what is opened last is closed first");
            continue;
        }
        found.push(tag);
        if !["!DOCTYPE", "meta"].contains(&name) {
            open.push(name);
        }
        if ["script", "style"].contains(&name) {
            // Up to its end tag everything is text.
            rest = &rest[rest.find(&format!("</{name}>")).expect("it ends")..];
        }
    }
    assert_eq!(open, Vec::<&str>::new());
    found
}

#[test]
fn elements_are_closed_and_names_are_only_text() {
    let page = page(vec![finding(), finding()]);
    let tags = tags(&page);
    let scripts: Vec<&&str> = tags.iter().filter(|tag| tag.starts_with("script")).collect();
    assert_eq!(scripts, [&"script id=\"data\" type=\"application/json\"", &"script"]);
    assert!(!tags.iter().any(|tag| tag.starts_with("img") || tag.starts_with("!--")), "{tags:?}");
    assert!(!tags.iter().any(|tag| tag.contains(" onerror") && !tag.contains('"')), "{tags:?}");
    assert!(page.contains("&lt;/script&gt;&lt;script&gt;alert(1)"), "they are there all the same");
    assert_eq!(tags.iter().filter(|tag| tag.starts_with("article")).count(), 2);
}

#[test]
fn the_data_is_json_and_says_what_it_was_given() {
    let page = page(vec![finding()]);
    let start = page.find("type=\"application/json\">").unwrap() + "type=\"application/json\">".len();
    let text = &page[start..start + page[start..].find('<').unwrap()];
    assert!(!text.contains(['>', '&', '\u{2028}']));
    let data: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(data[0]["lanes"][0], HOSTILE);
    assert_eq!(data[0]["witness"]["rows"][0]["text"], HOSTILE);
    assert_eq!(data[0]["witness"]["rows"][1]["leftOut"], 2);
    assert_eq!(data[0]["recorded"]["rows"][0]["text"], "read x = 0");
    assert_eq!(data[0]["recorded"]["rows"][0]["event"], data[0]["witness"]["rows"][0]["event"]);
    assert!(data[0]["witness"]["rows"][0]["source"].as_str().unwrap().ends_with(HOSTILE.trim()));
}

#[test]
fn nothing_is_loaded() {
    let page = page(vec![]);
    assert!(page.contains("Content-Security-Policy\" content=\"default-src 'none'"));
    // A name of a format, which nobody fetches.
    let page = page.replace("http://www.w3.org/2000/svg", "");
    for wrong in
        ["http:", "https:", "url(", "@import", "fetch(", "XMLHttpRequest", "<link", "src=\"", "import("]
    {
        assert!(!page.contains(wrong), "{wrong}");
    }
    tags(&page);
}

#[test]
fn annotations_of_github_are_one_line_each() {
    let (program, source) = program();
    let sources = Sources::new(&program, false, |_| Some(source.clone()));
    let mut one = finding();
    one.title = "two\nlines".to_owned();
    let report = Report { findings: vec![one], ..Report::default() };
    let text = report::github(&report, &sources);
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("::warning file=</script><script>alert(1)"), "{first}");
    assert!(first.contains(",title=data race::two%0Alines%0A"), "{first}");
    assert_eq!(text.lines().filter(|line| line.starts_with("::")).count(), 1);
}
