//! What compiled programs need of a machine, checked one by one.

use crate::launch;
use crate::toolchain::{Toolchain, clang};
use std::process::Command;

/// Something that is needed.
pub struct Check {
    /// What.
    pub what: &'static str,
    /// What was found, or what to do.
    pub result: Result<String, String>,
}

/// Checks everything.
#[must_use]
pub fn checks() -> Vec<Check> {
    let toolchain = Toolchain::find();
    let part = |path: std::path::PathBuf| match path.is_file() {
        true => Ok(path.display().to_string()),
        false => Err(format!(
            "{} is not there; `make install` puts it in its place (`make native` in a checkout), \
             and THREADBARE_LIB names the directory where it is",
            path.display()
        )),
    };
    vec![
        Check { what: "compiler", result: compiler() },
        Check { what: "compiler plugin", result: part(toolchain.plugin()) },
        Check { what: "runtime", result: part(toolchain.runtime()) },
        Check { what: "header", result: part(toolchain.include().join("threadbare.h")) },
        Check { what: "fixed addresses", result: launch::fixed_addresses() },
        Check { what: "room for logs", result: launch::room() },
        Check { what: "processor", result: processor() },
    ]
}

fn compiler() -> Result<String, String> {
    let clang = clang().map_err(|error| error.to_string())?;
    let output = Command::new(&clang).arg("--version").output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(format!("{} ({})", clang.to_string_lossy(), text.lines().next().unwrap_or_default()))
}

fn processor() -> Result<String, String> {
    match (std::env::consts::ARCH, std::env::consts::OS) {
        ("x86_64", "linux") => Ok("x86-64, Linux".to_owned()),
        (arch, os) => Err(format!("{arch}, {os}; compiled programs run on x86-64 and Linux only")),
    }
}
