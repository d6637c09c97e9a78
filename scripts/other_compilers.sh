#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the program and all tests with a compiler other than the one of scripts/test.sh, warnings as errors, and runs
# the tests. No device code. Needs scripts/setup.sh and the compiler.
#
#   scripts/other_compilers.sh COMPILER      such as clang++-16, or g++-14 on Debian 13
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 1 ] && command -v "$1" >/dev/null || { sed -n '3,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
build=build/$(basename "$1")
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
"$1" --version | head -1
cmake --preset release -B "$build" -DCMAKE_CXX_COMPILER="$1" -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" -DFOREDRAFT_CUDA=OFF
cmake --build "$build" -j "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" -- -k 0
ctest --test-dir "$build" -j "$(nproc)" --output-on-failure --no-tests=error
