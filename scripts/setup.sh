#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that building, testing and drawing need, and those given as arguments; does nothing if
# all are there. Uses sudo if not root.
set -euo pipefail

packages=(
  # building
  g++ cmake ninja-build ccache git ca-certificates
  # libraries
  libboost-dev libboost-context-dev libeigen3-dev libfmt-dev libhwy-dev librandom123-dev libre2-dev
  libssl-dev libtomlplusplus-dev nlohmann-json3-dev zlib1g-dev
  # tests, checks and benchmarks
  catch2 libbenchmark-dev
  # the Python package
  python3-dev python3-venv
  # figures; with chromium too (not installed here: 80 MB to fetch) the report is also tested in a browser
  python3 python3-matplotlib python3-numpy poppler-utils
  # the documentation site (pip install .[docs] brings the rest)
  doxygen
)
# Format and lint tools: one version for everybody, the one of Debian 12.
grep -qs '^VERSION_ID="12"' /etc/os-release && packages+=(clang-tidy-16 clang-format-16)
packages+=("$@")

if ! command -v dpkg-query >/dev/null; then
  echo "setup.sh: this system has no dpkg. Please install the equivalents of these Debian packages:" >&2
  printf '  %s\n' "${packages[@]}" >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

echo "setup.sh: installing ${missing[*]}" >&2
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup.sh: run as root, or install the packages above by hand (no sudo here)" >&2; exit 1; }
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
