#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Follows the guides docs/adding-*.md: applies the example of each to a copy of the tree in build/guides, builds the
# targets it names and runs its test. Minutes, so it is not part of scripts/test.sh, which checks that the places they
# edit are there.
#   scripts/try_guides.sh [--together] [policy process ...]
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
exec python3 tests/guides/guides.py . --try build/guides "$@"
