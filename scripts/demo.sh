#!/bin/sh
# The main job on an example: explore every schedule of three dining philosophers, find the deadlock, and run the program
# again into it.
set -eu
CARGO=${CARGO:-cargo}

$CARGO build --release --locked --bin threadbare
threadbare=target/release/threadbare
out=target/demo
rm -rf "$out"

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

expect 0 run examples/philosophers.tb
expect 1 explore --strategy all examples/philosophers.tb --save "$out"
expect 1 replay examples/philosophers.tb "$out/deadlock-1.schedule"

echo
echo "demo: found a deadlock that the plain run does not show, and ran the program again into it"
