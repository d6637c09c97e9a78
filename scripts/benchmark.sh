#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the release configuration, then times ours and the baseline scripts in turn: medians, spread and ratios.
# Arguments go to benchmarks/compare.py (--rounds N, --only WORD).
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
cmake --preset release >/dev/null
cmake --build --preset release --target foredraft benchmarks >/dev/null
echo "machine: $(sed -nE 's/^model name\s*: //p' /proc/cpuinfo | head -1), $(nproc) cores; $(g++ --version | head -1)"
exec python3 benchmarks/compare.py build/release "$@"
