#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests everything, from a bare Debian machine with a checkout: installs what is missing, checks the format, builds the
# sanitizer configuration and runs the tests in it, builds the release configuration and tests there what optimization
# or an instruction set can change and what users start, then tests the Python package. Of the files changed since
# scripts/tidy.sh checked all, it checks that each compiles by itself, and runs clang-tidy. If Emscripten is installed
# (scripts/page.sh installs it), it also builds the page and compares its answers with the program's.
# The last line is `N passed, N failed`.
#
#   scripts/test.sh [format] [asan] [release] [python] [changed] [page]      these parts only; default: all
set -euo pipefail
cd "$(dirname "$0")/.."
parts=(format asan release python changed page)
for part in "$@"; do
  [[ " ${parts[*]} " = *" $part "* ]] || { echo "test.sh: unknown part $part - one of ${parts[*]}" >&2; exit 2; }
done
[ $# -eq 0 ] || parts=("$@")
wanted() { [[ " ${parts[*]} " = *" $1 "* ]]; }
scripts/setup.sh

step() { printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }

# Lets checkouts share a compiler cache, at least for the release build: assertions contain paths.
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
# Ninja would start two jobs more than there are processors: with two processors that takes a sixth longer, as caches
# are too small.
export CMAKE_BUILD_PARALLEL_LEVEL=$(nproc)
passed=0 failed=0
count() {  # adds the totals of a CTest log
  local total bad
  total=$(sed -nE 's/.* tests? failed out of ([0-9]+)$/\1/p' "$1" | tail -1)
  bad=$(sed -nE 's/.*, ([0-9]+) tests? failed out of [0-9]+$/\1/p' "$1" | tail -1)
  failed=$((failed + ${bad:-1})) passed=$((passed + ${total:-0} - ${bad:-0}))
}
cases() {  # prints how many cases more than programs passed in the Catch2 programs of a log of CTest
  awk '/^All tests passed/ { n += $(NF - 2) - 1 } /^test cases:/ { n += $5 } END { print n + 0 }' "$1"
}

if wanted format; then
  step "format"
  git ls-files -z '*.cpp' '*.hpp' '*.cu' '*.cuh' | xargs -0 -n 64 -P "$(nproc)" clang-format-16 --dry-run -Werror
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
for preset in asan release; do
  wanted $preset || continue
  step "build $preset"
  plain_code=$([ "$preset" = asan ] && echo ON || echo OFF)
  # Device code, if there is a compiler for it, for one architecture only: gpu_bench/run_all.sh builds all of them.
  cmake --preset "$preset" -DCMAKE_CUDA_ARCHITECTURES=80-virtual -DFOREDRAFT_TEST_PLAIN_CODE="$plain_code" >"$log" ||
    { cat "$log"; exit 1; }
  cmake --build --preset "$preset" >"$log" || { tail -60 "$log"; exit 1; }
  step "test $preset"
  ctest --preset "$preset" -j "$(nproc)" >"$log" 2>&1 || grep -vE '^ *[0-9]+/[0-9]+ Test.*Passed|^ +Start ' "$log" | head -300
  sed -n '/tests passed/,$p' "$log"
  count "$log"
  # With sanitizers a test is a program (tests/CMakeLists.txt): a failed one counts once, of what passed the cases count.
  [ $preset = release ] || passed=$((passed + $(cases build/asan/Testing/Temporary/LastTest.log)))
done

if wanted python; then
  step "Python package"
  scripts/test_python.sh >"$log" 2>&1 && python=passed || python=failed
  tail -4 "$log"
  if [ $python = failed ]; then
    head -300 "$log"
    failed=$((failed + 1))
  else
    passed=$((passed + $(sed -nE 's/^Ran ([0-9]+) tests? in .*/\1/p' "$log" | tail -1)))
  fi
fi

if wanted changed; then
  step "files that changed since all were checked: each compiles by itself, clang-tidy"
  python3 scripts/check_files.py --since "$(cat .ci/checked)"
fi

if wanted page; then
  step "page"
  if ! command -v em++ >/dev/null; then
    echo "page: not tested, emscripten is not installed"
  else
    cmake --preset release >"$log" && cmake --build --preset release --target foredraft >"$log" &&
      scripts/page.sh --test build/release/foredraft >"$log" 2>&1 && passed=$((passed + 1)) || failed=$((failed + 1))
    tail -60 "$log"
  fi
fi

step "done"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
