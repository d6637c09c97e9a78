// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Random123/philox.h>

#include "core/random_stream.hpp"
#include "gpu_bench/kernels/storage.hpp"

/// The random numbers of a verification step: the same counters, bit for bit, as foredraft::RandomStream reads, so that
/// a kernel, its reference and the simulator take the same decisions.
namespace foredraft::gpu_bench {

/// The draws of one iteration: request b has point `first_request` + b and block `iteration`.
struct DrawStream {
  std::uint32_t key[2];  ///< philox_key(seed)
  std::uint32_t first_request;
  std::uint32_t iteration;
};

[[nodiscard]] inline DrawStream draw_stream(std::uint64_t seed, std::uint32_t first_request, std::uint32_t iteration) {
  const auto key = philox_key(seed);
  return {.key = {key[0], key[1]}, .first_request = first_request, .iteration = iteration};
}

/// The first 64 bits of draw `index`: what RandomStream(seed, {purpose, point, block}) gives as next_u64() behind
/// seek(index).
[[nodiscard]] FOREDRAFT_HOST_DEVICE inline std::uint64_t draw_word(const DrawStream& stream, Purpose purpose,
                                                                   unsigned request, std::uint32_t index) {
  const r123::Philox4x32::ctr_type counter = {
      {index, stream.iteration, stream.first_request + request, static_cast<std::uint32_t>(purpose) << 24U}};
  const r123::Philox4x32::key_type key = {{stream.key[0], stream.key[1]}};
  const r123::Philox4x32::ctr_type words = r123::Philox4x32{}(counter, key);
  return static_cast<std::uint64_t>(words.v[1]) << 32U | words.v[0];
}

/// Uniform on [0, 1) with 53 bits: RandomStream::uniform() of the same draw.
[[nodiscard]] FOREDRAFT_HOST_DEVICE inline double draw_uniform(const DrawStream& stream, Purpose purpose,
                                                               unsigned request, std::uint32_t index) {
  return static_cast<double>(draw_word(stream, purpose, request, index) >> 11U) * 0x1.0p-53;
}

}  // namespace foredraft::gpu_bench
