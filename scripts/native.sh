#!/bin/sh
# Formatting, lints and tests of what needs LLVM 22 (native/): the compiler pass, the runtime, and the suite of compiled programs.
set -eu
CARGO=${CARGO:-cargo}
target=${CARGO_TARGET_DIR:-$PWD/target}

sh scripts/build-native.sh || {
    status=$?
    [ "$status" -eq 3 ] || exit "$status"
    exit 0
}
export THREADBARE_LIB="$target/lib/threadbare"
$CARGO test --locked -p threadbare --test compiled
export CARGO_TARGET_DIR="$target/native"
cd native
$CARGO fmt --all --check
$CARGO clippy --workspace --all-targets --locked -- -D warnings
$CARGO test --workspace --locked
