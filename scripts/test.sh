#!/bin/sh
# All that `make test` runs: formatting, lints, documents, and every test.
#   NATIVE=no    leaves out what needs LLVM 22 (the compiler pass, the runtime, compiled programs), on purpose
#   SOURCES=no   leaves out programs whose sources Debian's archive has (pigz, pbzip2), on purpose
# What is missing and was not left out on purpose is said, the rest is run, and the end is a failure: half is not everything.
set -eu
CARGO=${CARGO:-cargo}
NATIVE=${NATIVE:-yes}
SOURCES=${SOURCES:-yes}
target=${CARGO_TARGET_DIR:-$PWD/target}
# A clean clone is built once: what serves the next build would only cost.
[ -z "${CI:-}" ] || export CARGO_INCREMENTAL=0

on_purpose=""
missing=""
packages="--workspace"
skipped="" # beginnings of the names of tests

$CARGO fmt --all --check

# The parts that go into compiled programs first: the tests of the command compile programs with them.
without_native() {
    for package in pass runtime suite; do
        packages="$packages --exclude threadbare-$package"
    done
    skipped="compiled::"
    SOURCES=unused
}
if [ "$NATIVE" = no ]; then
    on_purpose="compiled programs (NATIVE=no)"
    without_native
else
    status=0
    sh scripts/build-native.sh || status=$?
    case $status in
    0) export THREADBARE_LIB="$target/lib/threadbare" ;;
    3)
        missing="compiled programs: clang-22 or llvm-22-dev is not installed; NATIVE=no leaves them out on purpose"
        without_native
        ;;
    *) exit "$status" ;;
    esac
fi
sources="pigz pbzip2"
without_sources() {
    for source in $sources; do
        skipped="$skipped real_code::$source"
    done
}
case $SOURCES in
unused) ;;
no)
    on_purpose="$sources (SOURCES=no)"
    without_sources
    ;;
*)
    status=0
    # shellcheck disable=SC2086 # the names are words
    sh scripts/sources.sh $sources || status=$?
    case $status in
    0) ;;
    3)
        missing="$sources: apt-get does not give their sources; SOURCES=no leaves them out on purpose"
        without_sources
        ;;
    *) exit "$status" ;;
    esac
    ;;
esac

# shellcheck disable=SC2086 # the packages and the names are words
lints_and_documents() {
    $CARGO clippy $packages --all-targets --all-features --locked -- -D warnings &&
        RUSTDOCFLAGS="-D warnings" $CARGO doc $packages --all-features --no-deps --locked &&
        $CARGO test $packages --doc --all-features --locked
}

# shellcheck disable=SC2086
tests() {
    if $CARGO nextest --version >/dev/null 2>&1; then
        but="all()"
        for name in $skipped; do
            but="$but - test(/^$name/)"
        done
        # What was built is named by files, so that nextest does not ask cargo again, which is busy with the lints.
        $CARGO nextest run --cargo-metadata "$target/workspace.json" --binaries-metadata "$target/binaries.json" -E "$but"
    else
        set --
        for name in $skipped; do
            set -- "$@" --skip "$name"
        done
        $CARGO test $packages --tests --all-features --locked --no-fail-fast -- "$@"
    fi
}

# Built by themselves, because cargo builds one thing at a time; then the lints are beside the tests.
said=$target/lints.log
status=0
if $CARGO nextest --version >/dev/null 2>&1; then
    # shellcheck disable=SC2086
    $CARGO nextest list $packages --tests --all-features --locked --list-type binaries-only --message-format json >"$target/binaries.json"
    $CARGO metadata --format-version 1 --all-features --locked >"$target/workspace.json"
    lints_and_documents >"$said" 2>&1 &
    others=$!
    trap 'kill "$others" 2>/dev/null || true' EXIT
    tests || status=$?
    trap - EXIT
    lints=0
    wait "$others" || lints=$?
else
    tests || status=$?
    lints=0
    lints_and_documents >"$said" 2>&1 || lints=$?
fi
if [ "$lints" -eq 0 ]; then
    # Documents with examples; most packages have none.
    grep '^test result' "$said" | grep -v ' 0 passed; 0 failed; 0 ignored' || true
else
    cat "$said" >&2
    echo "make test: lints, documents or their examples failed, see above" >&2
    status=1
fi

if [ "$status" -ne 0 ]; then
    echo "make test: FAILED" >&2
elif [ -n "$missing" ]; then
    echo "make test: the rest passed, but something was LEFT OUT: $missing" >&2
    status=1
elif [ -n "$on_purpose" ]; then
    echo "make test: everything passed but what was left out: $on_purpose"
else
    echo "make test: everything passed"
fi
exit "$status"
