#!/usr/bin/env bash
# What foredraft-gpu says and returns before it needs a device. Usage: command_line_test.sh PROGRAM
set -u
program=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failed=0

expect() {  # exit code, words that the message must hold, arguments
  local code=$1 words=$2 text
  shift 2
  text=$("$program" "$@" 2>&1 </dev/null)
  local got=$?
  if [ "$got" -ne "$code" ] || [[ "$text" != *"$words"* ]]; then
    echo "foredraft-gpu $*: exit code $got (not $code?), says: $text" >&2
    failed=1
  fi
}

expect 0 "Exit codes" --help
expect 2 "Exit codes"
expect 2 "unknown argument --mins" measure --mins 3
expect 2 "--out is missing" measure
expect 2 "its value is missing" measure --out
expect 2 "must be a number above 0" measure --out "$out/a" --minutes nan
expect 2 "must be a number above 0" measure --out "$out/a" --minutes -1
expect 2 "llama-2-7b" measure --out "$out/a" --models llama-2-7
expect 2 "no_such_file.toml" measure --out "$out/a" --file "$out/no_such_file.toml"
touch "$out/taken"
expect 2 "taken" measure --out "$out/taken"
if ! "$program" facts >/dev/null 2>&1; then
  expect 2 "foredraft-gpu: " facts
  expect 2 "foredraft-gpu: " test
  expect 2 "foredraft-gpu: " measure --out "$out/b"
  [ -e "$out/b" ] && { echo "a folder was left where there is no device" >&2; failed=1; }
fi
exit $failed
