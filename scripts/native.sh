#!/bin/sh
# Formatting, lints and tests of what needs LLVM 22 (native/): the compiler pass.
set -eu
CARGO=${CARGO:-cargo}

for tool in clang-22 llvm-config-22; do
    command -v "$tool" >/dev/null 2>&1 || {
        echo "native: $tool is missing: the compiler pass is not built and not tested" >&2
        exit 0
    }
done
cd native
$CARGO fmt --all --check
$CARGO clippy --workspace --all-targets --locked -- -D warnings
$CARGO test --workspace --locked
