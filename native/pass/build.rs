//! Compiles the C++ shim against LLVM 22, which `llvm-config-22` finds (or the program that `LLVM_CONFIG` names).

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=LLVM_CONFIG");
    let config = std::env::var("LLVM_CONFIG").unwrap_or_else(|_| "llvm-config-22".to_owned());
    let output = match Command::new(&config).arg("--includedir").output() {
        Ok(output) if output.status.success() => output,
        _ => panic!("`{config} --includedir` does not run: install llvm-22-dev, or set LLVM_CONFIG"),
    };
    let include = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").flag("-fno-rtti").flag("-fno-exceptions").warnings(false);
    build.define("NDEBUG", None).include(include);
    for file in ["cpp/plugin.cc", "cpp/constants.cc", "cpp/debug.cc", "cpp/instrument.cc"] {
        println!("cargo:rerun-if-changed={file}");
        build.file(file);
    }
    build.compile("threadbare_shim");
}
