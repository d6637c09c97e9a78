#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the documentation site into build/site, warnings as errors. The page (docs/page.md) is a part of it if
# Emscripten is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/python_environment.sh
if command -v em++ >/dev/null; then
  scripts/page.sh
else
  echo "site.sh: emscripten is not installed: the site is without the page, unless build/page has one" >&2
fi
exec build/python-env/bin/python -m sphinx -W --keep-going -b html docs build/site
