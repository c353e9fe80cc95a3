//! The page of `--html` in a real browser: it is drawn without a complaint, loads nothing, and its timelines can be worked by mouse
//! and keyboard. `THREADBARE_SCREENSHOTS=DIR` keeps pictures of it, for people to look at.
#![allow(clippy::unwrap_used, reason = "tests")]

mod devtools;

use devtools::Browser;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs the tool on a program, and gives the page that it writes.
fn page(program: &Path, directory: &Path) -> PathBuf {
    let html = directory.join("report.html");
    let output = Command::new(env!("CARGO_BIN_EXE_threadbare"))
        .args(["run", "--no-keep", "--html"])
        .arg(&html)
        .arg(program)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    html
}

/// A picture of the page, if they are wanted.
fn keep_picture(browser: &mut Browser, name: &str, whole: bool) {
    let picture = browser.picture(whole);
    assert!(picture.starts_with(b"\x89PNG") && picture.len() > 10_000, "there is something on it");
    if let Some(directory) = std::env::var_os("THREADBARE_SCREENSHOTS") {
        std::fs::write(Path::new(&directory).join(format!("{name}.png")), picture).unwrap();
    }
}

/// The text of the first element that is found, or nothing.
fn text(browser: &mut Browser, selector: &str) -> String {
    let expression = format!("document.querySelector({})?.textContent ?? ''", json!(selector));
    browser.value(&expression).as_str().unwrap().to_owned()
}

fn nothing_to_complain_of(browser: &Browser) {
    assert_eq!(browser.complaints, Vec::<String>::new());
    let foreign: Vec<_> = browser.loaded.iter().filter(|url| !url.starts_with("\"file:")).collect();
    assert_eq!(foreign, Vec::<&String>::new());
    assert!(browser.loaded.len() <= 1, "one file is all: {:?}", browser.loaded);
}

#[test]
fn the_page_is_drawn_and_its_timeline_can_be_worked() {
    let directory = tempfile::tempdir().unwrap();
    let html = page(Path::new("examples/bank-av.tb"), directory.path());
    let mut browser = Browser::start();
    browser.look("light", 1360);
    browser.open(&html);
    assert_eq!(browser.value("document.querySelectorAll('article').length"), 2);
    assert_eq!(
        browser.value("document.querySelectorAll('#finding-1 .recorded-run .event.marked').length"),
        3
    );
    assert_eq!(browser.value("document.querySelectorAll('#finding-1 .witness .event.marked').length"), 3);
    assert_eq!(browser.value("document.querySelectorAll('#finding-1 .witness .switch').length"), 3);
    assert_eq!(browser.value("document.querySelectorAll('#finding-1 .links path').length"), 3);
    let wide = "document.documentElement.scrollWidth <= innerWidth";
    assert_eq!(browser.value(wide), true, "only timelines and code scroll sideways");
    keep_picture(&mut browser, "light", true);

    zooming(&mut browser);
    stepping(&mut browser);
    pointing(&mut browser);
    choosing(&mut browser);

    browser.look("dark", 1360);
    let paper = browser.value("getComputedStyle(document.body).backgroundColor");
    assert_eq!(paper, "rgb(22, 23, 25)", "dark where that is preferred");
    keep_picture(&mut browser, "dark", true);
    browser.look("light", 420);
    browser.open(&html);
    assert_eq!(browser.value("document.querySelector('.panes').dataset.view"), "witness", "no room for two");
    assert_eq!(browser.value(wide), true);
    keep_picture(&mut browser, "narrow", true);
    browser.loaded.pop();
    nothing_to_complain_of(&browser);
}

fn zooming(browser: &mut Browser) {
    let height = "document.querySelector('#finding-1 .witness .lanes').getBoundingClientRect().height";
    let click = |how: &str| format!("document.querySelector('#finding-1 [data-zoom={how}]').click()");
    let before = browser.value(height).as_f64().unwrap();
    browser.value(&click("in"));
    let larger = browser.value(height).as_f64().unwrap();
    assert!(larger > before * 1.1, "{before} → {larger}");
    assert_eq!(text(browser, "#finding-1 output"), "125 %");
    browser.value("document.querySelector('#finding-1 .witness .event.marked').focus()");
    browser.key("-");
    assert_eq!(text(browser, "#finding-1 output"), "100 %");
    browser.value(
        "document.querySelector('#finding-1 .viewport').dispatchEvent(
            new WheelEvent('wheel', { ctrlKey: true, deltaY: 1, cancelable: true }))",
    );
    assert_eq!(text(browser, "#finding-1 output"), "80 %");
    browser.value(&click("fit"));
    let fits = "(() => { const v = document.querySelector('#finding-1 .viewport'); return v.scrollHeight <= v.clientHeight + 1; })()";
    assert_eq!(browser.value(fits), true);
    browser.key("+");
}

fn stepping(browser: &mut Browser) {
    let here = "document.activeElement.getAttribute('aria-label')";
    browser.value("document.querySelector('#finding-1 .witness .event[tabindex=\"0\"]').focus()");
    assert_eq!(browser.value(here), "2. transfer#1, line 13: read balance[0] = 100 (marked)");
    assert_eq!(browser.value("document.getElementById('tip').hidden"), false, "focus tells too");
    browser.key("ArrowDown");
    assert_eq!(browser.value(here), "3. transfer#1, line 14: unlock account[0]");
    browser.key("n");
    assert_eq!(
        browser.value(here),
        "8. transfer#2, line 16: write balance[0] := 120 (marked); in the recorded run write balance[0] := 110"
    );
    assert!(text(browser, "#tip").contains("write balance[0] := 120"), "the value is told");
    assert!(
        text(browser, "#tip").contains("recorded run: write balance[0] := 110"),
        "and that of the other run"
    );
    browser.key("ArrowLeft");
    let run = "document.activeElement.closest('.pane').getAttribute('aria-label')";
    assert_eq!(browser.value(run), "Recorded run", "the same step there");
    browser.key("Escape");
    assert_eq!(browser.value("document.getElementById('tip').hidden"), true);
}

fn pointing(browser: &mut Browser) {
    browser.value("document.activeElement.blur()");
    browser.value("document.querySelector('#finding-1 .viewport').scrollIntoView({ behavior: 'instant' })");
    let at = browser.value(
        "(() => { const at = document.querySelector('#finding-1 .witness .event.marked').getBoundingClientRect();
            return [at.left + 5, at.top + 5]; })()",
    );
    let mut mouse = json!({ "type": "mouseMoved", "x": at[0], "y": at[1] });
    browser.ask("Input.dispatchMouseEvent", mouse.clone());
    assert!(text(browser, "#tip").contains("read balance[0] = 100"), "{}", text(browser, "#tip"));
    assert_eq!(browser.value("document.querySelectorAll('.recorded-run .event.twin').length"), 1);
    keep_picture(browser, "pointing", false);
    mouse["x"] = Value::from(1);
    browser.ask("Input.dispatchMouseEvent", mouse);
    assert_eq!(browser.value("document.getElementById('tip').hidden"), true);
}

fn choosing(browser: &mut Browser) {
    let shown =
        "[...document.querySelectorAll('#finding-1 .pane')].map((pane) => pane.offsetParent !== null)";
    assert_eq!(browser.value(shown), json!([true, true]));
    browser.value("document.querySelector('#finding-1 [data-view=recorded]').click()");
    assert_eq!(browser.value(shown), json!([true, false]));
    browser.value("document.querySelector('#finding-1 [data-view=both]').click()");
    browser.value("document.querySelector('#finding-1 [data-copy]').click()");
    browser.value("new Promise((done) => setTimeout(done, 100))");
    assert_eq!(text(browser, "#finding-1 [data-copy]"), "Copied");
}

#[test]
fn a_deadlock_says_who_waits_for_what() {
    let directory = tempfile::tempdir().unwrap();
    let html = page(Path::new("examples/philosophers.tb"), directory.path());
    let mut browser = Browser::start();
    browser.look("light", 1360);
    browser.open(&html);
    let waiting = browser.value("[...document.querySelectorAll('.blocked')].map((one) => one.textContent)");
    assert!(waiting[0].as_str().unwrap().starts_with("waits for forks["), "{waiting}");
    keep_picture(&mut browser, "deadlock", true);
    nothing_to_complain_of(&browser);
}

#[test]
fn a_hostile_name_and_source_are_only_text() {
    let directory = tempfile::tempdir().unwrap();
    let source = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/bank-av.tb"));
    let wrong = "// </script></code><script>document.title = 'owned'</script><img src=x onerror=alert(1)>";
    let source = source.unwrap().replace("seen + by;", &format!("seen + by; {wrong}"));
    let program = directory.path().join("<img src=x onerror=alert(2)>&amp;.tb");
    std::fs::write(&program, source).unwrap();
    let html = page(&program, directory.path());
    let mut browser = Browser::start();
    browser.open(&html);
    assert_eq!(browser.value("document.images.length + document.scripts.length"), 2, "ours");
    assert!(text(&mut browser, "h1").ends_with("<img src=x onerror=alert(2)>&amp;.tb"));
    assert!(text(&mut browser, "#finding-1 .code .line.marked .c").contains("</script></code><script>"));
    assert_ne!(browser.value("document.title"), "owned");
    browser.value("document.querySelector('#finding-1 .witness .event.marked:last-of-type').focus()");
    assert_eq!(browser.value("document.getElementById('tip').hidden"), false);
    assert_eq!(browser.value("document.images.length"), 0);
    nothing_to_complain_of(&browser);
}
