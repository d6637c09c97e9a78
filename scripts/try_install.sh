#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the files of scripts/wheel.sh as a user would, on a machine without a compiler, and uses them: the wheel by
# pip in a fresh environment, the Python of README.md, `foredraft advise` on the example, the page, and the packed
# program. Prints the time of each. Needs a python3 with venv, and the package index for numpy and pandas.
#
#   scripts/try_install.sh FOLDER [PYTHON]      FOLDER: with the files of wheel.sh; PYTHON: default python3
set -euo pipefail
[ $# -ge 1 ] && [ -d "$1" ] || { sed -n '3,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
folder=$(cd "$1" && pwd)
python=${2:-python3}
cd "$(dirname "$0")/.."
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

timed() {  # description, command
  local what=$1 begin=$EPOCHREALTIME
  shift
  "$@"
  awk -v from="$begin" -v to="$EPOCHREALTIME" -v what="$what" 'BEGIN { printf "%6.1f s  %s\n", to - from, what }'
}

advises() {  # checks an example of docs/advise.md with this program
  "$1" advise "$root"/docs/examples/advise/k3.log "$root"/docs/examples/advise/k1.log \
    --plain "$root"/docs/examples/advise/plain.log >advice.txt
  grep -q '^Use K = ' advice.txt || { echo "try_install.sh: no advice:" >&2; cat advice.txt >&2; exit 1; }
}

writes_page() {  # with this program, if wheel.sh had one
  rm -f page.html
  if "$1" page --out page.html 2>page.txt; then
    [ "$(tail -c 8 page.html)" = "</html>" ] || { echo "try_install.sh: no page" >&2; exit 1; }
  else
    grep -q 'scripts/page.sh' page.txt || { cat page.txt >&2; exit 1; }
    echo "(built without the page)"
  fi
}

for compiler in c++ g++ cc gcc clang; do
  ! command -v $compiler >/dev/null || echo "(this machine has a compiler, $compiler: what is tried here may need it)"
done
"$python" --version
timed "environment" "$python" -m venv python
# The wheel that fits this Python, never one of this name in the index.
python/bin/pip download --quiet --no-index --no-deps --only-binary :all: --find-links "$folder" foredraft
wheel=$(echo "$PWD"/foredraft-*.whl)
timed "pip install of the wheel" python/bin/pip install --quiet --only-binary :all: "$wheel"
timed "pip install of its extra plot" python/bin/pip install --quiet --only-binary :all: "${wheel}[plot]"
timed "program of the wheel" advises python/bin/foredraft
timed "page of the wheel" writes_page python/bin/foredraft
timed "Python of README.md" python/bin/python - "$root/README.md" <<'PYTHON'
import os
import pathlib
import re
import sys

os.environ["MPLBACKEND"] = "Agg"
blocks = re.findall(r"^```python\n(.*?)^```$", pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"), re.M | re.S)
assert blocks, "README.md has no Python"
for block in blocks:
    exec(block, {})
PYTHON

tar -xzf "$folder"/foredraft-*-linux-"$(uname -m)".tar.gz
program=$(echo "$PWD"/foredraft-*-linux-*/bin/foredraft)
timed "packed program" advises "$program"
timed "page of the packed program" writes_page "$program"
"$program" --version
