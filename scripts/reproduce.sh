#!/usr/bin/env bash
# Reproduces everything, from a bare Debian machine with a checkout: installs what is missing, builds the program, runs the
# first sweep and every table and figure of the papers. Results: results/quickstart and results/papers (or under $1).
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-results}
scripts/setup.sh
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
echo "building (some minutes the first time)" >&2
cmake --preset release -DFOREDRAFT_BUILD_TESTS=OFF >/dev/null
cmake --build --preset release --target foredraft
build/release/foredraft sweep experiments/configs/quickstart.toml --out "$out/quickstart"
build/release/foredraft reproduce --all --out "$out/papers"
