#!/usr/bin/env bash
# Installs the Debian package in a bare root, where nothing of Threadbare's sources and no Rust is, and runs the demo there.
#   scripts/deb-test.sh PACKAGE.deb     needs root, debootstrap, and a Debian with clang 22 among its packages
set -euo pipefail
package=$(readlink -f "$1")
[ "$(id -u)" -eq 0 ] || {
    echo "deb-test: a root of its own needs root: try sudo make test-deb" >&2
    exit 1
}
mirror=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/*.sources 2>/dev/null | head -n 1)
[ -n "$mirror" ] || mirror=$(awk '$1 == "deb" { print $2; exit }' /etc/apt/sources.list)
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
root=$(mktemp -d "${TMPDIR:-/var/tmp}/threadbare-deb-XXXXXX")
cleanup() {
    mountpoint -q "$root/proc" && umount -l "$root/proc"
    rm -rf --one-file-system "$root"
}
trap cleanup EXIT
echo "deb-test: a minimal $suite in $root"
debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "$mirror" >"$root.log" 2>&1 || {
    tail -n 5 "$root.log" >&2
    exit 1
}
rm -f "$root.log"
# The package sources of this machine: clang 22 may come from another one than the release's.
cp -a /etc/apt/sources.list.d /etc/apt/apt.conf.d "$root/etc/apt/"
cp -a /etc/apt/sources.list "$root/etc/apt/" 2>/dev/null || : >"$root/etc/apt/sources.list"
cp -a /usr/share/keyrings/. "$root/usr/share/keyrings/"
cp -L --remove-destination /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
rm -f "$root/etc/apt/apt.conf.d/docker-clean"
cp -L /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
mount -t proc proc "$root/proc"
cp "$package" "$root/root/threadbare.deb"
cp scripts/demo.sh "$root/root/demo.sh"
within() {
    chroot "$root" env DEBIAN_FRONTEND=noninteractive HOME=/root sh -c "$1"
}
within "apt-get update -qq && apt-get install -y -qq /root/threadbare.deb >/dev/null"
within "cp -r /usr/share/doc/threadbare/examples /root/ && cd /root && THREADBARE=threadbare sh demo.sh"
within "threadbare-cc --version >/dev/null && threadbare-c++ --version >/dev/null"
echo "deb-test: the package installs in a bare root, and the demo passes there"
