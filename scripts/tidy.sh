#!/usr/bin/env bash
# clang-tidy 16 over the non-test sources, or over the files given. Needs a configured release build.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ $# -eq 0 ]; then
  mapfile -t files < <(git ls-files -co --exclude-standard -- 'core/*.cpp' 'analytic/*.cpp' 'sim/*.cpp' 'experiments/*.cpp')
else
  files=("$@")
fi
# clang-tidy counts the warnings it suppressed in system headers on stderr; findings go to stdout.
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 2 clang-tidy-16 --quiet -p build/release 2>/dev/null
