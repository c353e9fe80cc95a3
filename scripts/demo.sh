#!/bin/sh
# The main job on two examples, one in C and one in the model language: run the program once, which passes, find what another schedule of
# that run does wrong, and run the program again into it.
#   THREADBARE=threadbare   takes an installed tool instead of building one
set -eu
CARGO=${CARGO:-cargo}
target=${CARGO_TARGET_DIR:-target}

if [ -n "${THREADBARE:-}" ]; then
    threadbare=$THREADBARE
    out=demo
else
    threadbare=$target/release/threadbare
    out=$target/demo
fi
rm -rf "$out"
mkdir -p "$out"

expect() {
    wanted=$1
    shift
    echo
    echo "\$ threadbare $*"
    status=0
    "$threadbare" "$@" || status=$?
    if [ "$status" -ne "$wanted" ]; then
        echo "demo: expected exit code $wanted, got $status" >&2
        exit 1
    fi
}

compiled=yes
if [ -z "${THREADBARE:-}" ]; then
    sh scripts/build-native.sh -p threadbare || {
        status=$?
        [ "$status" -eq 3 ] || exit "$status"
        compiled=no
        $CARGO build --release --locked -p threadbare
    }
fi
if [ "$compiled" = yes ]; then
    # Without Threadbare the bug does not show, however often the program is run; on a machine that is very busy, once in thousands of runs.
    clang-22 -g -O1 -pthread examples/bank.c -o "$out/plain"
    echo
    echo "\$ for i in \$(seq 1000); do ./bank || echo failed; done"
    runs=0
    failed=0
    while [ "$runs" -lt 1000 ]; do
        "$out/plain" >/dev/null 2>&1 || failed=$((failed + 1))
        runs=$((runs + 1))
    done
    if [ "$failed" -gt 5 ]; then
        echo "demo: the plain program failed in $failed of 1000 runs: it should hardly ever" >&2
        exit 1
    fi
    echo "1000 runs, $failed failures"
    expect 1 run examples/bank.c --save "$out/bank" --html "$out/bank.html"
    expect 1 replay examples/bank.c "$out/bank/1-atomicity-violation.schedule"
fi

expect 1 run examples/philosophers.tb --save "$out/philosophers"
expect 1 replay examples/philosophers.tb "$out/philosophers/1-deadlock.schedule"

echo
case $compiled in
yes) echo "demo: compiled a C program, ran it once, found a failure that this run does not show, and ran it again into that; $out/bank.html shows it" ;;
no) echo "demo: the C program is left out: clang-22 and llvm-22-dev are missing" ;;
esac
echo "demo: found a deadlock that the plain run does not show, and ran the program again into it"
