#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Recreates latency/devices/operators/*.json: make_profiles.sh [NAME...]; without names, all of them. Needs python3 with
# the package aisimulate on the PATH (scripts/operators/aisimulate_steps.py says what to install).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=$here/../../latency/devices/operators
mkdir -p "$out"

make() {  # NAME DEVICE TARGET DRAFT FORMAT TARGET_TP DRAFT_TP
  local name=$1 device=$2 target=$3 draft=$4 format=$5 target_tp=$6 draft_tp=$7
  [[ ${#wanted[@]} -eq 0 || " ${wanted[*]} " == *" $name "* ]] || return 0
  local draft_format=$format
  [[ $format == fp8_block ]] && draft_format=fp8
  echo "$name"
  python3 -I "$here/aisimulate_steps.py" >"$out/$name.json.part" <<EOF
{"device": "$device", "engine": "vllm", "target": "$target", "draft": "$draft", "target_format": "$format",
 "draft_format": "$draft_format", "target_tp": $target_tp, "draft_tp": $draft_tp}
EOF
  mv "$out/$name.json.part" "$out/$name.json"
}

wanted=("$@")
for device in a100 h100 h200 b200 l40s; do
  make "$device-vllm-llama-3.1-8b" "$device" llama-3.1-8b eagle3-llama-3.1-8b bf16 1 1
done
make h100-vllm-llama-3.3-70b-llama-3.1-8b h100 llama-3.3-70b llama-3.1-8b bf16 4 4
make h100-vllm-llama-3.3-70b-llama-3.2-1b h100 llama-3.3-70b llama-3.2-1b fp8 4 1
make h100-vllm-qwen3-32b h100 qwen3-32b qwen3-0.6b fp8 1 1
make h200-vllm-qwen3-32b h200 qwen3-32b qwen3-0.6b bf16 1 1
make b200-vllm-qwen3-30b-a3b b200 qwen3-30b-a3b qwen3-0.6b bf16 1 1
make h200-vllm-deepseek-v3 h200 deepseek-v3 mtp fp8_block 8 8
make b200-vllm-deepseek-v3 b200 deepseek-v3 mtp fp8_block 8 8
