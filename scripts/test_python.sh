#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the Python package in the environment of scripts/python_environment.sh: checks the types, runs tests/python, the
# notebooks and the documentation.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/python_environment.sh
build/python-env/bin/python -m mypy --strict python/foredraft
exec build/python-env/bin/python -m unittest discover --start-directory tests/python --pattern '*_test.py'
