#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Feeds every reader of text from outside with mutated inputs (libFuzzer, clang). A crash, a run of more than 5 s or an
# allocation of more than 1 GB ends it with exit code 1; the input is kept under build/fuzz/found.
#
# Usage: scripts/fuzz.sh [--seconds N] [READER ...]
#   --seconds N   time for each reader (default 60)
#   READER        one that build/fuzz/fuzz_readers --list prints; default: all. "log:NAME" reads logs of one format,
#                 "formats" is each of them in turn
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=60
readers=()
while [ $# -gt 0 ]; do
  case "$1" in
    --help | -h) sed -nE '2,/^set /s/^# ?//p' "$0"; exit 0 ;;
    --seconds) seconds=${2:?"--seconds needs a value"}; shift ;;
    -*) echo "fuzz.sh: unknown option $1" >&2; exit 2 ;;
    *) readers+=("$1") ;;
  esac
  shift
done
scripts/setup.sh clang-16 libclang-rt-16-dev
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target fuzz_readers >/dev/null
[ "${readers[*]:-}" != formats ] || mapfile -t readers < <(build/fuzz/fuzz_readers --formats)
[ ${#readers[@]} -gt 0 ] || mapfile -t readers < <(build/fuzz/fuzz_readers --list)

# Mutations begin with the project's own files.
seeds() {
  case "$1" in
    log | log:* | advise) echo tests/logs/samples/* ;;
    config) echo experiments/configs/*.toml ;;
    devices) echo latency/devices/*.toml ;;
    models) echo latency/models/*.toml ;;
    attainable) echo latency/attainable/*.toml ;;
    operators) find latency/devices/operators -type f -size -40k ;;
    profile) echo tests/recorded/inputs/measured.json ;;
    *) ;;
  esac
  find tests/fuzz/corpus/"$1" -type f 2>/dev/null || true
}

failed=0
for reader in "${readers[@]}"; do
  begun=build/fuzz/corpus/$reader found=build/fuzz/found/$reader
  rm -rf "$begun"
  mkdir -p "$begun" "$found"
  for file in $(seeds "$reader"); do cp "$file" "$begun/$(basename "$file")"; done
  if READER=$reader build/fuzz/fuzz_readers -max_total_time="$seconds" -timeout=5 -malloc_limit_mb=1024 -rss_limit_mb=3072 \
      -max_len=40000 -print_final_stats=1 -artifact_prefix="$found/" "$begun" >"$found/log" 2>&1; then
    echo "$reader: $(sed -nE 's/^stat::number_of_executed_units: +//p' "$found/log") inputs, nothing found"
  else
    failed=1
    echo "$reader: FAILED, $found/log"
    grep -E "ERROR|SUMMARY|Test unit written" "$found/log" | head -5
  fi
done
exit $failed
