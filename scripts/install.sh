#!/bin/sh
# Copies what was built to where it is used: `make install PREFIX=/opt/threadbare`.
#   PREFIX    an absolute path; /usr/local unless told otherwise
#   DESTDIR   goes in front of it while a package is made
#   BUILT     the directory with the program `threadbare`; LIB the one with the parts of compiled programs.
#             Without LIB (NATIVE=no) only model programs work, and there are no compiler wrappers.
#   install.sh remove   takes the same files away again
set -eu
prefix=${PREFIX:-/usr/local}
target=${CARGO_TARGET_DIR:-$PWD/target}
built=${BUILT:-$target/release}
lib=${LIB-$target/lib/threadbare}
case $prefix in
/*) ;;
*)
    echo "install: PREFIX is $prefix; it must be an absolute path" >&2
    exit 2
    ;;
esac
root=${DESTDIR:-}$prefix
wrappers="threadbare-cc threadbare-c++"
documents=$root/share/doc/threadbare

if [ "${1:-}" = remove ]; then
    for wrapper in $wrappers; do
        rm -f "$root/bin/$wrapper"
    done
    rm -rf "$root/bin/threadbare" "$root/lib/threadbare" "$documents" \
        "$root/share/bash-completion/completions/threadbare" "$root/share/zsh/site-functions/_threadbare" \
        "$root/share/fish/vendor_completions.d/threadbare.fish" "$root/share/man/man1/threadbare.1" \
        "$root/share/man/man1/threadbare-"*.1
    echo "install: removed Threadbare from $root"
    exit 0
fi

# Each file is written aside and renamed, because a program that runs now keeps the file that it has.
put() {
    mkdir -p "$(dirname "$2")"
    cp "$1" "$2.new"
    chmod "${3:-644}" "$2.new"
    mv -f "$2.new" "$2"
}

put "$built/threadbare" "$root/bin/threadbare" 755
for wrapper in $wrappers; do
    rm -f "$root/bin/$wrapper"
done
if [ -n "$lib" ]; then
    # The program looks at the name that it was called by. Hard links are executables of their own for every build system.
    for wrapper in $wrappers; do
        ln "$root/bin/threadbare" "$root/bin/$wrapper" 2>/dev/null ||
            put "$root/bin/threadbare" "$root/bin/$wrapper" 755
    done
    for file in libthreadbare_pass.so libthreadbare_runtime.so include/threadbare.h; do
        put "$lib/$file" "$root/lib/threadbare/$file"
    done
fi

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
"$built/threadbare" man "$made/man"
for page in "$made/man/"*.1; do
    put "$page" "$root/share/man/man1/$(basename "$page")"
done
for shell in bash zsh fish; do
    "$built/threadbare" completions "$shell" >"$made/$shell"
done
put "$made/bash" "$root/share/bash-completion/completions/threadbare"
put "$made/zsh" "$root/share/zsh/site-functions/_threadbare"
put "$made/fish" "$root/share/fish/vendor_completions.d/threadbare.fish"

for file in README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE THIRD-PARTY.md; do
    put "$file" "$documents/$file"
done
for example in bank.c bank-av.tb philosophers.tb; do
    put "examples/$example" "$documents/examples/$example"
done
if [ -n "$lib" ]; then
    echo "install: $root/bin has threadbare, threadbare-cc and threadbare-c++"
else
    echo "install: $root/bin has threadbare, for model programs only"
fi
