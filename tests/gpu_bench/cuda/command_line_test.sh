#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
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
expect 0 "usage: foredraft-gpu loop" loop --help
expect 2 "unknown command mesure - did you mean measure?" mesure
expect 2 "--mins: unknown option" measure --mins 3
expect 2 "did you mean --minutes?" measure --minute 3
expect 2 "--out: unknown option" facts --out x
expect 2 "--out: missing (name a folder" measure
expect 2 "--out" measure --out
expect 2 "must be a finite number" measure --out "$out/a" --minutes nan
expect 2 "must lie in [0.001, 1440]" measure --out "$out/a" --minutes -1
expect 2 "llama-2-7b" measure --out "$out/a" --models llama-2-7
expect 2 "no_such_file.toml" measure --out "$out/a" --file "$out/no_such_file.toml"

own_model() {  # lines that a sound shape gets besides its own
  cat <<'TOML'
[mine]
summary = "a shape of one's own"
source = "made up"
layers = 2
d_model = 8
heads = 4
kv_heads = 2
head_dim = 2
d_ff = 12
vocabulary = 10
norm = "rms"
activation = "silu"
positions = "rotary"
TOML
  printf '%s\n' "$@"
}
own_model | sed 's/kv_heads = 2/kv_heads = 3/' >"$out/heads.toml"
expect 2 "kv_heads: is 3 (must divide heads, 4)" measure --out "$out/a" --file "$out/heads.toml"
own_model "fp8 = true" "tensor_parallel = 2" >"$out/later.toml"
expect 2 "fp8: not a key of model files" measure --out "$out/a" --file "$out/later.toml"
expect 2 "tensor_parallel: not a key of model files" measure --out "$out/a" --file "$out/later.toml"
[ -e "$out/a" ] && { echo "a folder was left behind a refusal" >&2; failed=1; }

expect 2 "mixtures of experts" measure --out "$out/a" --models mixtral-8x7b,mistral-7b

touch "$out/taken"
expect 2 "taken: is a file" measure --out "$out/taken"
mkdir "$out/full"
touch "$out/full/thesis.tex"
expect 2 "holds thesis.tex" measure --out "$out/full"
if ! "$program" facts >/dev/null 2>&1; then
  expect 2 "foredraft-gpu: " facts
  expect 2 "foredraft-gpu: " test
  expect 2 "foredraft-gpu: " measure --out "$out/b"
  [ -e "$out/b" ] && { echo "a folder was left where there is no device" >&2; failed=1; }
fi
exit $failed
