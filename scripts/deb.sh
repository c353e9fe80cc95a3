#!/bin/sh
# Makes a Debian package of what was built: target/threadbare_VERSION_ARCHITECTURE.deb.
set -eu
target=${CARGO_TARGET_DIR:-$PWD/target}
stage=$target/deb
rm -rf "$stage"
mkdir -p "$stage/threadbare/DEBIAN" "$stage/debian"
DESTDIR=$stage/threadbare PREFIX=/usr sh scripts/install.sh

cd "$stage"
documents=threadbare/usr/share/doc/threadbare
cat "$documents/LICENSE-MIT" "$documents/THIRD-PARTY.md" >"$documents/copyright"
rm "$documents/LICENSE-MIT"
mv "$documents/CHANGELOG.md" "$documents/changelog"
gzip -9n "$documents/changelog" threadbare/usr/share/man/man1/*.1
mkdir -p threadbare/usr/share/zsh/vendor-completions
mv threadbare/usr/share/zsh/site-functions/_threadbare threadbare/usr/share/zsh/vendor-completions/
rmdir threadbare/usr/share/zsh/site-functions

# The system's libraries that the parts are linked with. The tool reads a source package, of which this much is enough.
printf 'Source: threadbare\n\nPackage: threadbare\nArchitecture: any\n' >debian/control
libraries=$(dpkg-shlibdeps -O threadbare/usr/bin/threadbare threadbare/usr/lib/threadbare/*.so | sed -n 's/^shlibs:Depends=//p')
architecture=$(dpkg --print-architecture)
version=$(threadbare/usr/bin/threadbare --version | cut -d ' ' -f 2)
cat >threadbare/DEBIAN/control <<CONTROL
Package: threadbare
Version: $version
Architecture: $architecture
Maintainer: The Threadbare developers <threadbare@localhost>
Installed-Size: $(du -sk threadbare/usr | cut -f 1)
Depends: $libraries
Recommends: clang-22
Section: devel
Priority: optional
Description: finds the concurrency bugs that other schedules of a run can show
 Threadbare takes one passing run of a multithreaded C or C++ program and works
 out what other schedules of that run do: failed assertions, crashes, deadlocks,
 data races, atomicity violations. Each finding carries a schedule, and the
 program has been run again under it. Compiling programs needs clang 22; programs
 in the model language need nothing else.
CONTROL
package=$target/threadbare_${version}_$architecture.deb
dpkg-deb --root-owner-group --build threadbare "$package.new" >/dev/null
mv -f "$package.new" "$package"
echo "deb: $package"
