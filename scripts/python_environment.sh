#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Python package into an environment of its own, build/python-env, as users get it, with the packages that
# tests and documents need. Needs the package index.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
environment=build/python-env
[ -x "$environment/bin/pip" ] || /usr/bin/python3 -m venv "$environment"
# The compiler and warnings of the release build, so that its compiler cache is used.
export CXX=c++
# A substitute for the page that the tests expect: the real one takes 400 MB to build.
"$environment/bin/pip" install --quiet --config-settings=cmake.define.FOREDRAFT_WERROR=ON \
  --config-settings=cmake.define.FOREDRAFT_PAGE="$PWD/tests/app/page.html" ".[test,docs]"
