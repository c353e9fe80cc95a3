#!/bin/sh
# Builds what `threadbare cc` needs and puts it where the command looks for it: target/lib/threadbare.
# Words are further packages for the same build (-p threadbare): what they share is built once.
# Without clang and LLVM 22 it says so and ends with status 3: everything but compiled programs works without them.
set -eu
CARGO=${CARGO:-cargo}
target=${CARGO_TARGET_DIR:-$PWD/target}

for tool in clang-22 llvm-config-22; do
    command -v "$tool" >/dev/null 2>&1 || {
        echo "native: $tool is missing: compiled programs are left out (install clang-22 and llvm-22-dev)" >&2
        exit 3
    }
done
$CARGO build --release --locked -p threadbare-pass -p threadbare-runtime "$@"
lib=$target/lib/threadbare
mkdir -p "$lib/include"
for file in libthreadbare_pass.so libthreadbare_runtime.so; do
    # Aside first: a program that runs now keeps the file that it has.
    cp "$target/release/$file" "$lib/$file.new"
    mv -f "$lib/$file.new" "$lib/$file"
done
cp native/include/threadbare.h "$lib/include/threadbare.h"
