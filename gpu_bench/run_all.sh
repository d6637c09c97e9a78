#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures this machine's GPU: see the text below, or gpu_bench/README.md.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

usage() {
  cat <<'TEXT'
usage: run_all.sh OUT [MINUTES]

Measures the GPU of this machine within MINUTES (8, fractions allowed), build and tests included, and leaves in the
folder OUT: profile.json (for `foredraft`), steps.csv, kernels.csv and verifications.csv (every time measured),
samples.csv (every sample), report.md (to read).

The most important times come first. If the run ends early, at the time limit or by Ctrl-C, OUT holds a valid profile of
what was measured so far and names what is missing. Run the same command again to continue.

If foredraft-gpu is in the folder of this script, that program is used; in a checkout it is built first (needs cmake,
ninja, a C++ compiler and nvcc: scripts/setup.sh and the CUDA toolkit).

If a python3 with torch and transformers is found, the speculative sampling of transformers is timed in the last 30 s:
OUT-transformers.csv. If that fails, the reason is printed, and the measurement remains valid.

exit codes: 0 done; 1 no driver, or the build, a test or the run failed; 2 bad usage or input; 130 interrupted
TEXT
}

refuse() {
  printf 'run_all.sh: %s\n' "$1" >&2
  exit 2
}

for argument in "$@"; do
  case $argument in
    -h | --help) usage; exit 0 ;;
    -*) refuse "$argument: unknown option - see run_all.sh --help" ;;
  esac
done
[ $# -ge 1 ] && [ $# -le 2 ] && [ -n "$1" ] || refuse "takes OUT and perhaps MINUTES - see run_all.sh --help"
out=$1
minutes=${2:-8}

[[ $minutes =~ ^[0-9]{1,5}(\.[0-9]+)?$ ]] || refuse "$minutes: MINUTES must be a number above 0, such as 8 or 2.5"
fraction=00
[[ $minutes != *.* ]] || fraction=${minutes#*.}0
budget_s=$((10#${minutes%%.*} * 60 + 10#${fraction:0:2} * 60 / 100))
[ "$budget_s" -gt 0 ] || refuse "$minutes: MINUTES must be a number above 0, such as 8 or 2.5"

# foredraft-gpu looks more closely; this avoids a build that would be rejected.
if [ -d "$out" ]; then
  if [ -n "$(ls -A "$out")" ] && ! grep -qs '"complete": false' "$out/profile.json"; then
    refuse "$out: holds files, and no unfinished profile - use another folder"
  fi
elif [ -e "$out" ]; then
  refuse "$out: is a file - use another folder"
fi

if [ -x "$here/foredraft-gpu" ]; then
  program=$here/foredraft-gpu
else
  root=$(dirname "$here")
  [ -f "$root/CMakeLists.txt" ] || refuse "$here: holds no foredraft-gpu, and is not in a checkout to build it from"
  # With a driver there is a device file or a list of GPUs. Checked first, because building takes minutes.
  if [ ! -e /dev/nvidiactl ] && [ ! -e /dev/dxg ] && ! nvidia-smi -L >/dev/null 2>&1; then
    echo "run_all.sh: no NVIDIA driver found (no /dev/nvidiactl, and nvidia-smi lists no GPU)" \
      "- run it where the GPU is" >&2
    exit 1
  fi
  command -v cmake >/dev/null || { echo "run_all.sh: cmake not found - run scripts/setup.sh" >&2; exit 1; }
  echo "building foredraft-gpu (some minutes the first time)" >&2
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
  (cd "$root" && cmake --preset gpu -DFOREDRAFT_BUILD_TESTS=OFF && cmake --build --preset gpu --target foredraft-gpu) \
    >"$log" 2>&1 || { tail -40 "$log" >&2; echo "run_all.sh: the build failed" >&2; exit 1; }
  rm -f "$log"
  trap - EXIT
  program=$root/build/gpu/foredraft-gpu
fi

# The program tests the device before it measures, and writes nothing if a test fails. It gets at least a second, so
# that even a run without time left writes a profile, which names what is missing.
transformers_s=30
left_s=$((budget_s - SECONDS))
python=
if command -v python3 >/dev/null && python3 -c 'import torch, transformers' 2>/dev/null; then
  python=python3
  left_s=$((left_s - transformers_s))
fi
[ "$left_s" -gt 0 ] || left_s=1
code=0
"$program" measure --out "$out" --minutes "$(printf '%d.%03d' $((left_s / 60)) $((left_s % 60 * 1000 / 60)))" || code=$?

# The library itself and our launch-by-launch copy of it, on the same device in the same run.
if [ "$code" -eq 0 ] && [ -z "$python" ]; then
  echo "the transformers library was not timed: no python3 with torch and transformers" >&2
elif [ "$code" -eq 0 ] && [ ! -e "$out-transformers.csv" ]; then
  "$python" "$here/time_transformers.py" "$out-transformers.csv" --seconds "$transformers_s" ||
    echo "run_all.sh: the transformers library was not timed, for the reason above; the measurement in $out stands" >&2
fi
exit "$code"
