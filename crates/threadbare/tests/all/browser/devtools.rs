//! A headless Chromium, driven over its debugging pipe: JSON messages that end with a zero byte, in through one descriptor and out
//! through another. That needs no library and no port.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// What the browser may be called, the smallest first.
const NAMES: [&str; 4] = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/// A browser with one page.
pub struct Browser {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    session: String,
    last: u64,
    /// Errors of the page, and whatever it wrote to the console.
    pub complaints: Vec<String>,
    /// What it wanted to load.
    pub loaded: Vec<String>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts it; a machine without one cannot say that the page works.
    pub fn start() -> Browser {
        let found = NAMES.iter().find(|name| {
            let paths = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&paths).any(|directory| directory.join(name).is_file())
        });
        let Some(name) = found else {
            panic!("no Chromium here to look at the page with; `sh scripts/setup.sh test` installs one")
        };
        let profile = tempfile::tempdir().unwrap();
        // The browser reads from descriptor 3 and writes to 4.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", name])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
            ])
            .args(["--remote-debugging-pipe", "--hide-scrollbars", "--window-size=1360,900"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let mut browser = Browser {
            process,
            input,
            output: BufReader::new(output),
            session: String::new(),
            last: 0,
            complaints: vec![],
            loaded: vec![],
            _profile: profile,
        };
        let target = browser.ask("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let attached = browser.ask("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Asks, and waits for the answer; what the page says in between is noted.
    pub fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.input.write_all(format!("{message}\0").as_bytes()).unwrap();
        self.input.flush().unwrap();
        loop {
            let message = self.next();
            if message["id"] == self.last {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
        }
    }

    /// Opens a file and waits until it is there.
    pub fn open(&mut self, file: &Path) {
        self.ask("Page.navigate", json!({ "url": format!("file://{}", file.display()) }));
        while self.next()["method"] != "Page.loadEventFired" {}
    }

    /// The value of an expression in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true });
        let answer = self.ask("Runtime.evaluate", parameters);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Presses and releases a key.
    pub fn key(&mut self, key: &str) {
        let text = if key.len() == 1 { key } else { "" };
        let code = match key {
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            "Escape" => 27,
            _ => 0,
        };
        let common = json!({ "key": key, "text": text, "windowsVirtualKeyCode": code });
        for kind in ["keyDown", "keyUp"] {
            let mut event = common.clone();
            event["type"] = json!(kind);
            self.ask("Input.dispatchKeyEvent", event);
        }
    }

    /// Light or dark, and how wide.
    pub fn look(&mut self, scheme: &str, width: u32) {
        let feature = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.ask("Emulation.setEmulatedMedia", json!({ "features": feature }));
        let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", size);
    }

    /// The whole page, or what is seen of it, as PNG.
    pub fn picture(&mut self, whole: bool) -> Vec<u8> {
        let mut parameters = json!({ "format": "png" });
        if whole {
            let size = self.ask("Page.getLayoutMetrics", json!({}))["cssContentSize"].clone();
            parameters["captureBeyondViewport"] = json!(true);
            parameters["clip"] =
                json!({ "x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1 });
        }
        decoded(self.ask("Page.captureScreenshot", parameters)["data"].as_str().unwrap())
    }

    fn next(&mut self) -> Value {
        let mut bytes = vec![];
        self.output.read_until(0, &mut bytes).unwrap();
        assert!(!bytes.is_empty(), "the browser has gone away");
        bytes.pop();
        let message: Value = serde_json::from_slice(&bytes).unwrap();
        match message["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded") => {
                self.complaints.push(message["params"].to_string());
            }
            Some("Network.requestWillBeSent") => {
                self.loaded.push(message["params"]["request"]["url"].to_string());
            }
            _ => {}
        }
        message
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Base 64: six bits a character.
fn decoded(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.bytes().filter_map(|c| DIGITS.iter().position(|digit| *digit == c));
    let (mut bytes, mut bits, mut held) = (vec![], 0, 0usize);
    for digit in digits {
        (held, bits) = ((held << 6 | digit) & 0xffff, bits + 6);
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
        }
    }
    bytes
}
