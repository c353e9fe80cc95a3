//! The design in `docs/design` and everything that refers to it: pages, headings, link targets and the files
//! that pages name exist, every page is in the index, and each paper has one name.
//!
//! Comments refer to a page by its path from the root, if need be with a heading in quotes behind a comma.
//! Both may be broken over several lines of a comment.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Where references may stand, besides the documents and the Makefile in the root.
const DIRECTORIES: [&str; 5] = ["crates", "docs", "examples", "native", "scripts"];

/// What is read of them.
const EXTENSIONS: [&str; 8] = ["c", "cat", "cc", "h", "md", "rs", "sh", "tb"];

/// How references to pages begin; in two parts, so that this file has none.
const PAGES: &str = concat!("docs/", "design/");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files of a directory that are text of ours, those of the directories in it too.
fn add_files(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("the directory can be read") {
        let path = entry.expect("its entries can be read").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                add_files(&path, files);
            }
        } else if path.extension().is_some_and(|ours| EXTENSIONS.iter().any(|one| ours == *one)) {
            files.push(path);
        }
    }
}

/// All files that are looked at, by their paths from the root, with their texts.
fn texts() -> Vec<(String, String)> {
    let root = root();
    let mut files = vec![root.join("Makefile")];
    for directory in DIRECTORIES {
        add_files(&root.join(directory), &mut files);
    }
    for entry in fs::read_dir(&root).expect("the root can be read") {
        let path = entry.expect("its entries can be read").path();
        if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
    files.sort();
    let text = |path: &PathBuf| {
        let name = path.strip_prefix(&root).expect("it is below the root").to_string_lossy().into_owned();
        let bytes = fs::read(path).expect("the file can be read");
        (name, String::from_utf8_lossy(&bytes).into_owned())
    };
    files.iter().map(text).collect()
}

/// A text in one line, without what begins the lines of a comment.
fn in_one_line(text: &str) -> String {
    let words = text.lines().map(|line| {
        let line = line.trim_start();
        let comment = ["//!", "///", "//", "#"].iter().find_map(|begin| line.strip_prefix(begin));
        comment.unwrap_or(line).trim()
    });
    words.collect::<Vec<_>>().join(" ")
}

/// What a document says outside blocks of code.
fn without_blocks(text: &str) -> String {
    let mut inside = false;
    let mut kept = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if !inside {
            kept.push_str(line);
        }
        kept.push('\n');
    }
    kept
}

/// The headings of a document.
fn headings(text: &str) -> Vec<String> {
    let text = without_blocks(text);
    let heading = |line: &str| {
        let title = line.trim_start_matches('#');
        (title.len() < line.len() && title.starts_with(' ')).then(|| title.trim().to_owned())
    };
    text.lines().filter_map(heading).collect()
}

/// What a heading is called in links.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// The pages that a text refers to, each with the heading if there is one.
fn references(text: &str) -> Vec<(String, Option<String>)> {
    let text = in_one_line(text);
    let mut found = vec![];
    for (at, _) in text.match_indices(PAGES) {
        let rest = &text[at..];
        let is_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
        let end = rest.find(|c| !is_path(c)).unwrap_or(rest.len());
        let page = rest[..end].trim_end_matches(['.', '/']);
        let quoted = rest[end..].strip_prefix(", \"").and_then(|quoted| quoted.split_once('"'));
        found.push((page.to_owned(), quoted.map(|(heading, _)| heading.to_owned())));
    }
    found
}

/// The targets of a document's links to files and headings.
fn links(text: &str) -> Vec<String> {
    // Code between backticks has no links; a paragraph ends whatever was left open.
    let text = without_blocks(text);
    let paragraphs = text.split("\n\n").map(|paragraph| {
        let parts = paragraph.split('`').enumerate();
        parts.filter(|(n, _)| n % 2 == 0).map(|(_, part)| part).collect::<String>()
    });
    let text: String = paragraphs.collect::<Vec<_>>().join("\n");
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.to_owned()).filter(|target| !target.contains("://")).collect()
}

/// Whether a text uses the number of the paper on memory models as a name. Digits of other numbers are not
/// meant.
fn names_a_paper_by_its_number(text: &str) -> bool {
    let number = concat!("0", "04");
    text.match_indices(number).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let mut after = text[at + number.len()..].chars();
        let (next, second) = (after.next(), after.next());
        let goes_on = |c: char| c.is_alphanumeric() || c == '_';
        let is_end_of_number = before.is_some_and(|c| goes_on(c) || matches!(c, '.' | ',' | '-'));
        let is_begin = next.is_some_and(goes_on)
            || (matches!(next, Some('.' | ',')) && second.is_some_and(|c| c.is_ascii_digit()));
        !is_end_of_number && !is_begin
    })
}

fn assert_none(wrong: &[String], what: &str) {
    assert!(wrong.is_empty(), "{what}:\n{}", wrong.join("\n"));
}

#[test]
fn pages_and_headings_that_are_referred_to_exist() {
    let (mut wrong, mut count) = (vec![], 0);
    for (file, text) in texts() {
        for (page, heading) in references(&text) {
            count += 1;
            let is_there = match (fs::read_to_string(root().join(&page)), &heading) {
                (Ok(text), Some(heading)) => headings(&text).contains(heading),
                (Ok(_), None) => true,
                (Err(_), _) => false,
            };
            if !is_there {
                wrong.push(format!("{file}: {page} {heading:?}"));
            }
        }
    }
    assert_none(&wrong, "these pages or headings do not exist");
    assert!(count > 50, "there are references, and {count} were found");
}

#[test]
fn links_of_documents_lead_somewhere() {
    let (mut wrong, mut count) = (vec![], 0);
    let is_document =
        |file: &str| file.ends_with(".md") && (file.starts_with("docs/") || !file.contains('/'));
    for (file, text) in texts().into_iter().filter(|(file, _)| is_document(file)) {
        let own = root().join(&file);
        for link in links(&text) {
            count += 1;
            let (path, heading) = link.split_once('#').map_or((&*link, None), |(p, h)| (p, Some(h)));
            let target = match path {
                "" => own.clone(),
                _ => own.with_file_name("").join(path),
            };
            let has = |heading: &str| {
                let text = fs::read_to_string(&target).unwrap_or_default();
                headings(&text).iter().any(|title| anchor(title) == heading)
            };
            if !target.exists() || !heading.is_none_or(has) {
                wrong.push(format!("{file}: {link}"));
            }
        }
    }
    assert_none(&wrong, "these links lead nowhere");
    assert!(count > 50, "there are links, and {count} were found");
}

#[test]
fn the_index_has_every_page() {
    let directory = root().join(PAGES);
    let index = fs::read_to_string(directory.join("README.md")).expect("there is an index");
    let listed: BTreeSet<String> = links(&index).into_iter().collect();
    let mut wrong = vec![];
    for entry in fs::read_dir(directory).expect("the pages can be listed") {
        let name = entry.expect("its entries can be read").file_name().to_string_lossy().into_owned();
        if name != "README.md" && !listed.contains(&name) {
            wrong.push(name);
        }
    }
    assert_none(&wrong, "the index lacks these pages");
}

#[test]
fn files_that_pages_name_exist() {
    let (mut wrong, mut count) = (vec![], 0);
    for (file, text) in texts().into_iter().filter(|(file, _)| file.starts_with(PAGES)) {
        let text = without_blocks(&text);
        for code in text.split('`').skip(1).step_by(2) {
            if code.starts_with("crates/") || code.starts_with("native/") {
                count += 1;
                if !root().join(code).exists() {
                    wrong.push(format!("{file}: {code}"));
                }
            }
        }
    }
    assert_none(&wrong, "these files do not exist");
    assert!(count > 10, "pages name files, and {count} were found");
}

#[test]
fn papers_and_pages_go_by_their_names() {
    let section = concat!("DES", "IGN §");
    let mut wrong = vec![];
    for (file, text) in texts() {
        if text.contains(section) {
            wrong.push(format!("{file}: a section by its number; name the page"));
        }
        if names_a_paper_by_its_number(&text) {
            wrong.push(format!("{file}: a paper by its number; it is called MM"));
        }
    }
    assert_none(&wrong, "these refer to what readers do not have");
}

#[test]
fn references_are_found_across_lines_and_numbers_are_no_names() {
    let page = format!("{PAGES}engines.md");
    let text = format!("//! One ({page},\n//! \"Long\n//! traces\"), another: {page}.");
    let expected = [(page.clone(), Some("Long traces".to_owned())), (page, None)];
    assert_eq!(references(&text), expected);
    let number = concat!("0", "04");
    for name in ["{} Fig. 6", "({})", "of {}: rules", "as in {}, and"] {
        assert!(names_a_paper_by_its_number(&name.replace("{}", number)), "{name}");
    }
    for other in ["0.{}", "1,{} lines", "{}5", "2{}", "{}.5"] {
        assert!(!names_a_paper_by_its_number(&other.replace("{}", number)), "{other}");
    }
    assert_eq!(anchor("What is `new`, here?"), "what-is-new-here");
}
