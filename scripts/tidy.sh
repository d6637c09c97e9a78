#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that every source and header compiles by itself and that clang-tidy 16 has no finding, then writes the commit
# to .ci/checked; `scripts/test.sh` checks files changed since. tidy.sh FILE ... checks only these files.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
exec python3 scripts/check_files.py "$@"
