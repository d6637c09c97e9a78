#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Submits a sweep to Slurm: a job array of SHARDS shards, then their merge into OUT/whole. Repeating the command runs
# only what is missing.
#
# Usage: scripts/slurm/submit.sh CONFIG.toml OUT SHARDS [options of sbatch, such as --partition=short --cpus-per-task=8]
#
# FOREDRAFT names the program if it is not on the PATH of the nodes. CONFIG and OUT must be on a file system that all
# nodes share.
set -euo pipefail
if [ $# -lt 3 ]; then
  sed -n '/^# Usage/s/^# //p' "$0" >&2
  exit 2
fi
config=$1 out=$2 shards=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out/logs"
array=$(sbatch --parsable --array="1-$shards" --output="$out/logs/%a.log" "$@" "$here/sweep.sbatch" "$config" "$out")
sbatch --dependency="afterok:$array" --output="$out/logs/merge.log" "$@" "$here/merge.sbatch" "$out"
