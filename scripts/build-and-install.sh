#!/bin/sh
# Builds what is installed, and installs it (scripts/install.sh). Without LLVM 22 it fails, unless NATIVE=no says that model programs are
# enough.
set -eu
CARGO=${CARGO:-cargo}
if [ "${NATIVE:-yes}" = no ]; then
    sh scripts/setup.sh
    $CARGO build --release --locked -p threadbare
    LIB="" exec sh scripts/install.sh
fi
sh scripts/setup.sh native
sh scripts/build-native.sh -p threadbare || {
    echo "install: NATIVE=no installs the tool for model programs only" >&2
    exit 1
}
exec sh scripts/install.sh
