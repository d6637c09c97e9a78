#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Reproduces everything, from a bare Debian machine with a checkout: installs what is missing, builds the program, runs
# the first sweep, measures this machine and validates what is predicted from that, and reproduces every table and
# figure of the papers. Results: results/quickstart, results/cpu.json, results/validation, results/papers and
# results/engines (or under $1). Run again, it measures only what is not finished.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-results}
scripts/setup.sh
echo "building (some minutes the first time)" >&2
cmake --preset release -DFOREDRAFT_BUILD_TESTS=OFF >/dev/null
cmake --build --preset release -j "$(nproc)" --target foredraft
build/release/foredraft sweep experiments/configs/quickstart.toml --out "$out/quickstart"

# Under four minutes. It continues on a noisy machine, and the report marks its section; if the times are too
# contradictory to predict from, the report omits it.
measure_this_machine() {
  grep -qs '"state": "complete"' "$out/validation/manifest.json" && return
  if ! grep -qs '"complete": true' "$out/cpu.json"; then
    build/release/foredraft calibrate --out "$out/cpu.json" --minutes 1.5 --accept-noise || return
  fi
  # A validation is never overwritten: the files of an interrupted one are moved aside.
  [ ! -e "$out/validation" ] || mv "$out/validation" "$out/validation.unfinished.$(date +%s)" || return
  build/release/foredraft validate --profile "$out/cpu.json" --out "$out/validation" --minutes 2 --accept-noise
}
validation=()
if measure_this_machine; then
  validation=(--validation "$out/validation")
else
  [ $? -ne 130 ] || exit 130  # interrupted
  echo "this machine is not in the report: what was predicted of it could not be validated, for the reason above" >&2
fi
build/release/foredraft reproduce --all --out "$out/papers" "${validation[@]}"

# Measurements with engines are drawn from their records: no engine is run.
mkdir -p "$out/engines"
cp -r gpu_bench/data/engines/. "$out/engines"
for engine in "$out"/engines/*/; do build/release/foredraft plot "$engine"; done
