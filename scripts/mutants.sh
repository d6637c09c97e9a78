#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Injects every fault of tests/mutants/mutants.toml into a copy of the project and prints which tests turned red: hours, so it
# is not part of scripts/test.sh. Arguments go to tests/mutants/run.py (--only NAME ..., --check).
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
exec python3 tests/mutants/run.py . "$@"
