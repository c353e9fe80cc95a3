#!/bin/sh
# Programs that nobody here wrote, for tests: the original sources of some Debian packages, fetched once into target/tools/sources.
#   sources.sh PACKAGE …   ends with 3 if there is no apt, or it does not give them; says so
# The system's own configuration stays as it is: its archives are asked for sources with a configuration beside it.
set -eu
to=$PWD/target/tools/sources
mkdir -p "$to"

# With a mark at its end: a fetch that was cut off is done again.
missing=""
for package in "$@"; do
    [ -e "$to/$package/.fetched" ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

give_up() {
    echo "sources: $1: left out:$missing" >&2
    exit 3
}
command -v apt-get >/dev/null 2>&1 || give_up "there is no apt-get"

aside=$(mktemp -d)
trap 'rm -rf "$aside"' EXIT
chmod 755 "$aside"
mkdir -p "$aside/parts" "$aside/lists/partial"
for file in /etc/apt/sources.list.d/*.sources; do
    [ -e "$file" ] && sed 's/^Types:.*/Types: deb-src/' "$file" >"$aside/parts/$(basename "$file")"
done
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -e "$file" ] && sed -n 's/^deb[[:space:]]/deb-src /p' "$file" >"$aside/parts/$(basename "$file" .list).list"
done
apt() {
    apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$aside/parts" \
        -o Dir::State::lists="$aside/lists" -o APT::Sandbox::User=root "$@"
}
# The release of this system first, then newer ones: an archive does not keep every file of an older one.
newer=$(sed -n 's/^URIs:[[:space:]]*//p; s/^deb-src[[:space:]][^h]*\(http[^[:space:]]*\).*/\1/p' "$aside/parts"/* | grep '/debian/*$' | head -n 1)
fetch() {
    apt update && (cd "$to/$1" && apt source --download-only --tar-only "$1")
}
for package in $missing; do
    rm -rf "${to:?}/$package"
    mkdir -p "$to/$package"
    if ! fetch "$package" >"$aside/said" 2>&1; then
        [ -n "$newer" ] || give_up "apt-get does not give $package ($(tail -n 1 "$aside/said"))"
        mkdir -p "$aside/newer"
        for release in stable testing; do
            echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $newer $release main"
        done >"$aside/newer/newer.list"
        rm -rf "$aside/parts" && mv "$aside/newer" "$aside/parts"
        fetch "$package" >"$aside/said" 2>&1 || give_up "apt-get does not give $package ($(tail -n 1 "$aside/said"))"
    fi
    # The original alone, without what Debian changes.
    tar -x -f "$to/$package/"*.orig.tar.* -C "$to/$package" --strip-components=1
    touch "$to/$package/.fetched"
done
