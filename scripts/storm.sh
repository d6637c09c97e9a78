#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the program again and again under kills, faults and races; exits 1 if a byte is lost. docs/testing.md says what
# is tried.
#   scripts/storm.sh [--seconds N] [PROGRAM]
#     --seconds N           total time (default 900)
#     --seed S              for all random choices (default 1)
#     --task KIND[/NUMBER]  only kills, interrupts, faults, streams or races; with a number, only that task, repeatedly
#     --keep-going          counts failures by kind instead of stopping at the first
#     PROGRAM               default build/release/foredraft, which is built if it is missing
set -euo pipefail
here="$(cd "$(dirname "$0")/.." && pwd)"

program="" options=()
while [ $# -gt 0 ]; do
  case "$1" in
    --help | -h) sed -nE '2,/^set /s/^# ?//p' "$0"; exit 0 ;;
    --seconds | --seed | --task) options+=("$1" "${2:?"$1 needs a value"}"); shift ;;
    -*) options+=("$1") ;;
    *) [ -z "$program" ] || { echo "storm.sh: more than one PROGRAM" >&2; exit 2; }; program="$1" ;;
  esac
  shift
done
if [ -z "$program" ]; then
  program="$here/build/release/foredraft"
  if [ ! -x "$program" ]; then
    (cd "$here" && cmake --preset release >&2 && cmake --build --preset release --target foredraft >&2)
  fi
fi
exec python3 -B "$here/tests/storm/storm.py" "${options[@]}" "$program"
