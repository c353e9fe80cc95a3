#!/bin/sh
# The main jobs on two examples. A C program that nearly always passes: compile it, run it under a schedule in which it fails,
# and run it again into the failure. A model program: explore every schedule, find the deadlock, and run the program again into it.
set -eu
CARGO=${CARGO:-cargo}

$CARGO build --release --locked --bin threadbare
threadbare=target/release/threadbare
out=target/demo
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
sh scripts/build-native.sh || {
    status=$?
    [ "$status" -eq 3 ] || exit "$status"
    compiled=no
}
if [ "$compiled" = yes ]; then
    expect 0 run examples/bank.c
    expect 4 run examples/bank.c --strategy random --seed 8 --save-schedule "$out/bank.schedule"
    expect 1 replay examples/bank.c "$out/bank.schedule"
fi

expect 0 run examples/philosophers.tb
expect 1 explore --strategy all examples/philosophers.tb --save "$out"
expect 1 replay examples/philosophers.tb "$out/deadlock-1.schedule"

echo
case $compiled in
yes) echo "demo: compiled a C program, recorded a run in which it fails, and ran it again into the failure" ;;
no) echo "demo: the C program is left out: clang-22 and llvm-22-dev are missing" ;;
esac
echo "demo: found a deadlock that the plain run does not show, and ran the program again into it"
