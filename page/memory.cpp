// SPDX-License-Identifier: Apache-2.0
#include <wasm_simd128.h>
#include <bit>
#include <cstddef>
#include <cstdint>

extern "C" {

/// The first byte `wanted`, 16 at a time: Emscripten's C library takes 4 at a time, and every line of a log is found
/// so.
void* memchr(const void* memory, int wanted, std::size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(memory);
  const auto byte = static_cast<unsigned char>(wanted);
  const v128_t wanted_bytes = wasm_u8x16_splat(byte);
  for (; bytes >= sizeof(v128_t); bytes -= sizeof(v128_t), at += sizeof(v128_t)) {
    const auto found = static_cast<std::uint32_t>(wasm_i8x16_bitmask(wasm_i8x16_eq(wasm_v128_load(at), wanted_bytes)));
    if (found != 0) return const_cast<unsigned char*>(at + std::countr_zero(found));
  }
  for (; bytes > 0; --bytes, ++at) {
    if (*at == byte) return const_cast<unsigned char*>(at);
  }
  return nullptr;
}
}
