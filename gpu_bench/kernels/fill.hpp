// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Random123/philox.h>
#include <limits>

#include "gpu_bench/kernels/reduce.hpp"
#include "latency/operations/reference.hpp"

/// The initial contents of buffers, as defined by latency/operations/reference.hpp.
namespace foredraft::gpu_bench {

/// The random stream of one buffer, without the index of a draw.
struct ContentStream {
  std::uint32_t key[2];
  std::uint32_t counter[4];  ///< of draw 0; word 0 and the low 24 bits of word 3 take the index
};

[[nodiscard]] inline ContentStream content_stream(const latency::Buffer& buffer, std::uint64_t seed) {
  const auto key = philox_key(seed);
  const PhiloxWords first = philox_counter({Purpose::buffer_content, latency::content_point(buffer.name), 0}, 0);
  return {.key = {key[0], key[1]}, .counter = {first[0], first[1], first[2], first[3]}};
}

/// Threads that take `each` elements at a time, and stride over the rest.
[[nodiscard]] inline LaunchShape striding_shape(std::int64_t elements, std::int64_t each, unsigned threads,
                                                unsigned max_blocks) {
  const std::int64_t blocks = (elements + each * threads - 1) / (each * threads);
  return {.blocks = static_cast<unsigned>(blocks < max_blocks ? blocks : max_blocks),
          .threads = threads,
          .shared_bytes = 0};
}

/// Calls element(index, word) for every element of a buffer and its random word, one draw of four at a time.
template <class Element>
struct FillKernel {
  static constexpr unsigned max_threads = 256;

  ContentStream stream;
  std::int64_t elements;
  Element element;
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const { return striding_shape(elements, 4, threads, 16384); }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    const std::int64_t stride = static_cast<std::int64_t>(block.blocks()) * block.threads();
    for (std::int64_t draw = static_cast<std::int64_t>(block.block()) * block.threads() + block.thread();
         draw * 4 < elements; draw += stride) {
      const r123::Philox4x32::ctr_type counter = {{static_cast<std::uint32_t>(draw), stream.counter[1],
                                                   stream.counter[2],
                                                   stream.counter[3] | static_cast<std::uint32_t>(draw >> 32)}};
      const r123::Philox4x32::key_type key = {{stream.key[0], stream.key[1]}};
      const r123::Philox4x32::ctr_type words = r123::Philox4x32{}(counter, key);
      FOREDRAFT_UNROLL
      for (unsigned j = 0; j < 4; ++j) {
        if (draw * 4 + j < elements) element(draw * 4 + j, words.v[j]);
      }
    }
  }
};

/// Weights and caches: sums of uniforms, shaped like a bell.
template <class Storage>
struct BellElement {
  Storage* out;
  float factor;  ///< content_factor of the buffer's scale

  FOREDRAFT_HOST_DEVICE void operator()(std::int64_t i, std::uint32_t word) const {
    out[i] = from_float<Storage>(static_cast<float>(latency::bell_from_word(word)) * factor);
  }
};

struct TokenElement {
  std::int32_t* out;
  std::int64_t vocabulary;

  FOREDRAFT_HOST_DEVICE void operator()(std::int64_t i, std::uint32_t word) const {
    out[i] = static_cast<std::int32_t>(latency::token_from_word(word, vocabulary));
  }
};

/// NaN in an activation, so that unwritten memory does not look like a result.
template <class Storage>
struct PoisonElement {
  Storage* out;

  FOREDRAFT_HOST_DEVICE void operator()(std::int64_t i, std::uint32_t /*word*/) const {
    out[i] = from_float<Storage>(std::numeric_limits<float>::quiet_NaN());
  }
};

// ---- Kernels that only move memory, 16 bytes per thread at a time: used to measure bandwidth.

struct alignas(16) MemoryPack {
  std::uint32_t words[4];
};

enum class MemoryMove { copy, read, write };

template <MemoryMove move>
struct MoveMemoryKernel {
  static constexpr unsigned max_threads = 512;
  static constexpr unsigned in_flight = 4;  ///< packs that a thread loads before it uses the first

  const MemoryPack* from;  ///< copy and read
  MemoryPack* to;          ///< copy and write; a read writes one pack only if the sum of what it read is `unlikely`
  std::int64_t packs;
  unsigned max_blocks;
  std::uint32_t unlikely;
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const { return striding_shape(packs, in_flight, threads, max_blocks); }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    // A block writes neighboring packs; all blocks together read neighboring packs. Each is the fastest on an H200.
    constexpr bool reads = move == MemoryMove::read;
    const std::int64_t threads_a_block = block.threads();
    const std::int64_t stride = reads ? block.blocks() * threads_a_block : threads_a_block;
    const std::int64_t of_block = reads ? threads_a_block : in_flight * threads_a_block;
    std::uint32_t sum = 0;
    for (std::int64_t first = block.block() * of_block + block.thread(); first < packs;
         first += block.blocks() * in_flight * threads_a_block) {
      MemoryPack pack[in_flight];
      FOREDRAFT_UNROLL
      for (unsigned u = 0; u < in_flight; ++u) {
        const auto word = static_cast<std::uint32_t>(first + u * stride);
        pack[u] = {{word, word, word, word}};
        if (move != MemoryMove::write && first + u * stride < packs) pack[u] = from[first + u * stride];
      }
      FOREDRAFT_UNROLL
      for (unsigned u = 0; u < in_flight; ++u) {
        if (move == MemoryMove::read) {
          sum += pack[u].words[0] ^ pack[u].words[1] ^ pack[u].words[2] ^ pack[u].words[3];
        } else if (first + u * stride < packs) {
          to[first + u * stride] = pack[u];
        }
      }
    }
    if (move == MemoryMove::read && sum == unlikely) to[0] = {{sum, sum, sum, sum}};
  }
};

}  // namespace foredraft::gpu_bench
