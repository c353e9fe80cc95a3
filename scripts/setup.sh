#!/bin/sh
# Installs what the build and the tests need and the machine does not have: a C and C++ compiler (for zstd and CaDiCaL),
# z3 (an independent solver that the tests compare with). Works as root or with sudo on Debian and Ubuntu; elsewhere it says
# what to install.
set -eu

missing=""
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }

need cc gcc
need c++ g++
need z3 z3
# Headers of the C library: a compiler without them cannot build anything.
if command -v cc >/dev/null 2>&1; then
    echo 'int main(void) { return 0; }' | cc -include stdio.h -x c -fsyntax-only - 2>/dev/null || missing="$missing libc6-dev"
else
    missing="$missing libc6-dev"
fi

command -v cargo >/dev/null 2>&1 || {
    echo "setup: cargo is missing; install Rust 1.95 or later and try again" >&2
    exit 1
}

[ -n "$missing" ] || exit 0

give_up() {
    echo "setup: missing packages:$missing" >&2
    echo "setup: $1" >&2
    exit 1
}

command -v apt-get >/dev/null 2>&1 ||
    give_up "install a C compiler, a C++ compiler and z3 with this system's package manager, then try again"
if [ "$(id -u)" -eq 0 ]; then
    as_root=""
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root="sudo"
elif command -v sudo >/dev/null 2>&1 && [ -t 0 ]; then
    as_root="sudo"
else
    give_up "run this as root, then try again: apt-get update && apt-get install -y$missing"
fi

echo "setup: installing$missing"
$as_root apt-get update -qq
# shellcheck disable=SC2086 # the packages are words
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null ||
    give_up "apt-get could not install them; run: apt-get install -y$missing"
