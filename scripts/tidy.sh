#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy 16 over the non-test sources, or over the files given. Needs the asan preset built (for all sources: it
# compiles two dozen files as one unit, which reads each library header once); files are read by the flags of the dev preset.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ $# -gt 0 ]; then
  build=build/dev
  cmake --preset dev >/dev/null
  units=("$@")
else
  build=build/asan
  mapfile -t units < <(sed -nE 's/^ *"file": "(.*)",?$/\1/p' $build/compile_commands.json |
                         grep -E '/(core|analytic|sim|latency|logs|gpu_bench|experiments)/' | grep -vE "\.cu$|/$build/(tests|benchmarks)/|$PWD/(tests|benchmarks)/|/build_info.cpp|/published_data.cpp|/device_data.cpp|/model_data.cpp|_verify_interface_header_sets/")
fi
# clang-tidy counts the warnings it suppressed in system headers on stderr; findings go to stdout.
printf '%s\n' "${units[@]}" | xargs -P "$(nproc)" -n 1 clang-tidy-16 --quiet -p $build 2>/dev/null
