#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Python package as users get it into an environment of its own, build/python-env, with what tests and documents
# need. Needs the package index.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
environment=build/python-env
[ -x "$environment/bin/pip" ] || /usr/bin/python3 -m venv "$environment"
# The same compiler and warnings as in the release build, whose compiler cache serves this one.
export CXX=c++
# The page that the tests expect: the real one takes 400 MB to build.
"$environment/bin/pip" install --quiet --config-settings=cmake.define.FOREDRAFT_WERROR=ON \
  --config-settings=cmake.define.FOREDRAFT_PAGE="$PWD/tests/app/page.html" ".[test,docs]"
