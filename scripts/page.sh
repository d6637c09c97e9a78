#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the page of the program, build/page/foredraft.html: one file with the program as WebAssembly. Debian 12 only,
# whose Emscripten is 3.1.6. Installs what is missing (400 MB), and fetches Debian's sources of RE2 and zlib, which have
# no packages for WebAssembly (docs/adr/0027-page.md).
#
#   scripts/page.sh [--test PROGRAM]     then compares the page's answers with those of PROGRAM, such as
#                                        build/release/foredraft
set -euo pipefail
cd "$(dirname "$0")/.."
program=
case "${1:-}" in
  "") ;;
  --test) program=${2:?"--test needs a program"} ;;
  *) sed -nE '2,/^set /s/^# ?//p' "$0"; [ "$1" = --help ] && exit 0 || exit 2 ;;
esac
scripts/setup.sh emscripten node-acorn dpkg-dev make perl python3-six unicode-data

sources=build/page/sources
if [ ! -d $sources/re2 ] || [ ! -d $sources/zlib ]; then
  # The configured archive again, for sources, with separate lists: the machine's settings do not change.
  apt=$PWD/build/page/apt
  mkdir -p $sources "$apt/parts" "$apt/lists/partial" "$apt/archives/partial"
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources; do
    [ -f $list ] && sed -E 's/^Types: deb$/Types: deb-src/; s/^deb /deb-src /' $list >"$apt/parts/$(basename $list)"
  done
  options=(-qq -o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$apt/parts" -o "Dir::State::Lists=$apt/lists"
           -o "Dir::Cache=$apt")
  apt-get "${options[@]}" update
  for package in re2 zlib; do
    (cd $sources && apt-get "${options[@]}" source --download-only $package && rm -rf $package &&
      dpkg-source -x ${package}_*.dsc $package >/dev/null)
  done
  make -s -C $sources/re2 REBUILD_TABLES=1 re2/{perl_groups,unicode_groups,unicode_casefold}.cc  # generated anew
fi

export NODE_PATH=/usr/share/nodejs  # where Debian's Emscripten finds acorn
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
cmake --preset page >/dev/null
cmake --build --preset page -- --quiet
python3 page/bundle.py --glue build/page/foredraft_page.js --wasm build/page/foredraft_page.wasm --out build/page/foredraft.html
bytes=$(stat -c %s build/page/foredraft.html)
echo "build/page/foredraft.html: $bytes bytes"
[ "$bytes" -le 3145728 ] || { echo "page.sh: the page is larger than 3 MB" >&2; exit 1; }
if [ -n "$program" ]; then
  python3 tests/page/equal_answers.py "$program" build/page
  python3 tests/page/browser.py build/page/foredraft.html --program "$program"
fi
