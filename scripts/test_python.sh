#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the Python package as users get it: builds the wheel into an environment of its own (build/python-env), checks
# the types, runs tests/python and with it the notebooks and the documentation. Needs the package index.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
environment=build/python-env
[ -x "$environment/bin/pip" ] || /usr/bin/python3 -m venv "$environment"
# The same compiler and warnings as in the release build, whose compiler cache serves this one.
export CXX=c++
"$environment/bin/pip" install --quiet --config-settings=cmake.define.FOREDRAFT_WERROR=ON ".[test,docs]"
"$environment/bin/python" -m mypy --strict python/foredraft
exec "$environment/bin/python" -m unittest discover --start-directory tests/python --pattern '*_test.py'
