#!/bin/sh
# Installs what is needed and missing. Works as root or with sudo on Debian and Ubuntu; elsewhere it says what to install.
#   setup.sh           to build: a C and a C++ compiler (for zstd and CaDiCaL)
#   setup.sh native    and to compile programs: clang and LLVM 22
#   setup.sh test      and to test: z3, an independent solver; clang and LLVM 22 with its C++ library, and what programs need that are
#                      compiled (NATIVE=no: not these); Chromium, to look at the HTML report; Python with pip, for an independent planner
#   setup.sh bench     and to compare what recording costs: clang's runtime libraries (ThreadSanitizer), valgrind
#   setup.sh solvers   and to compare: z3 and cvc5
#   setup.sh deb       as native, and to make a Debian package; setup.sh bare-root: and to try it in a root of its own
set -eu

missing=""
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }

need cc gcc
need c++ g++
# Headers of the C library: a compiler without them cannot build anything.
if command -v cc >/dev/null 2>&1; then
    echo 'int main(void) { return 0; }' | cc -include stdio.h -x c -fsyntax-only - 2>/dev/null || missing="$missing libc6-dev"
else
    missing="$missing libc6-dev"
fi
case "${1:-}" in
native | deb)
    need clang-22 clang-22
    need llvm-config-22 llvm-22-dev
    ;;
esac
case "${1:-}" in
deb) need dpkg-shlibdeps dpkg-dev ;;
bare-root) need debootstrap debootstrap ;;
test)
    need z3 z3
    need python3 python3
    python3 -m pip --version >/dev/null 2>&1 || missing="$missing python3-pip"
    if [ "${NATIVE:-yes}" != no ]; then
        need clang-22 clang-22
        need llvm-config-22 llvm-22-dev
        # The tests of C++ programs run with LLVM's library too. It is the archive that they are linked with.
        [ -e /usr/lib/llvm-22/lib/libc++.a ] || missing="$missing libc++-22-dev libc++abi-22-dev"
        # Build systems that the compiler wrappers are tried with.
        need cmake cmake
        need meson meson
        need ninja ninja-build
        # What pigz and pbzip2 need, which are compiled from their sources; and to unpack those.
        need xz xz-utils
        [ -e /usr/include/zlib.h ] || missing="$missing zlib1g-dev"
        [ -e /usr/include/bzlib.h ] || missing="$missing libbz2-dev"
    fi
    # Any will do; the one without windows is the smallest.
    for browser in chromium chromium-browser google-chrome chromium-headless-shell; do
        command -v "$browser" >/dev/null 2>&1 && break
    done
    need "$browser" chromium-headless-shell
    ;;
bench)
    need clang-22 clang-22
    need llvm-config-22 llvm-22-dev
    need valgrind valgrind
    ls /usr/lib/llvm-22/lib/clang/22/lib/*/libclang_rt.tsan*.a >/dev/null 2>&1 || missing="$missing libclang-rt-22-dev"
    ;;
solvers)
    need z3 z3
    need cvc5 cvc5
    ;;
esac

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
    give_up "install them (by their Debian names) with this system's package manager, then try again"
if [ "$(id -u)" -eq 0 ]; then
    as_root=""
elif command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    as_root="sudo"
else
    give_up "run this as root, then try again: apt-get update && apt-get install -y$missing"
fi

$as_root apt-get update -qq
# Not every release has all packages. Without LLVM 22 the compiler pass is not built, and compiled programs are left out; without a
# browser the test of the HTML report fails, and says so.
for package in clang-22 llvm-22-dev libc++-22-dev libc++abi-22-dev libclang-rt-22-dev chromium-headless-shell; do
    case " $missing " in
    *" $package "*)
        if ! apt-cache show "$package" >/dev/null 2>&1; then
            case "$package" in
            chromium*) without="install a Chromium for the test of the HTML report" ;;
            libc++*) without="tests of C++ programs fail without LLVM's library" ;;
            libclang-rt*) without="there is nothing to compare with" ;;
            *) without="compiled programs are left out" ;;
            esac
            echo "setup: $package is not among this system's packages: $without" >&2
            missing=$(echo " $missing " | sed "s/ $package / /")
        fi
        ;;
    esac
done
# shellcheck disable=SC2086 # the packages are words
set -- $missing
[ $# -gt 0 ] || exit 0
echo "setup: installing $*"
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends "$@" >/dev/null ||
    give_up "apt-get could not install them; run: apt-get install -y $*"
