#!/usr/bin/env bash
# clang-tidy 16 over the non-test sources. Needs a configured release build for its compile commands.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files -co --exclude-standard -- 'core/*.cpp' 'analytic/*.cpp' 'sim/*.cpp' 'experiments/*.cpp' |
  xargs -P "$(nproc)" -n 4 clang-tidy-16 --quiet -p build/release 2>/dev/null
