#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the documentation site into build/site, warnings being errors.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/python_environment.sh
exec build/python-env/bin/python -m sphinx -W --keep-going -b html docs build/site
