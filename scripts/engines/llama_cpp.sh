#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the programs of llama.cpp that scripts/engines/llama_cpp_validation.py times, for this CPU, from the source
# package of llama-cpp-python. Usage: llama_cpp.sh [FOLDER]   (default: build/engines of this tree)
set -euo pipefail

version=0.3.36
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=${1:-"$root/build/engines"}
source_tree=$folder/llama_cpp_python-$version/vendor/llama.cpp
programs=(llama-bench llama-batched-bench llama-speculative-simple)

mkdir -p "$folder"
if [[ ! -d $source_tree ]]; then
  python3 -m pip download --no-deps --no-binary llama-cpp-python --dest "$folder" "llama-cpp-python==$version"
  tar -xzf "$folder/llama_cpp_python-$version.tar.gz" -C "$folder"
fi
# GGML_NATIVE would use AMX tiles, which a virtual machine may report without permitting their use: the program is then
# killed by a signal as soon as a quantized model reads several tokens.
features=()
while read -r flag option; do
  if grep -qw "$flag" /proc/cpuinfo; then features+=("-DGGML_$option=ON"); fi
done <<'FLAGS'
avx2 AVX2
fma FMA
f16c F16C
bmi2 BMI2
avx512f AVX512
avx512vbmi AVX512_VBMI
avx512_vnni AVX512_VNNI
avx512_bf16 AVX512_BF16
avx_vnni AVX_VNNI
FLAGS
cmake -S "$source_tree" -B "$folder/llama.cpp" -DCMAKE_BUILD_TYPE=Release -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF \
  -DLLAMA_BUILD_TESTS=OFF -DBUILD_SHARED_LIBS=OFF -DGGML_NATIVE=OFF "${features[@]}"
nice -n 10 cmake --build "$folder/llama.cpp" -j "${JOBS:-1}" --target "${programs[@]}"
ls -l "${programs[@]/#/$folder/llama.cpp/bin/}"
