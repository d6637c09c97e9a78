// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/random_stream.hpp"
#include "latency/operations/program.hpp"

/// Contents of buffers before a pass: bit-identical on every backend. Element e of a buffer is made from word e % 4 of
/// draw e / 4 of the stream (Purpose::buffer_content, content_point(name), 0) under the run's seed, with integers and
/// one single-precision product, so it does not depend on a math library.
namespace foredraft::latency {

/// 32-bit FNV-1a of the name.
[[nodiscard]] constexpr std::uint32_t content_point(std::string_view name) {
  std::uint32_t hash = 2166136261U;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619U;
  return hash;
}

/// Sum of the word's four bytes minus its mean: bell-shaped over -510 .. 510, of variance 4 (256^2 - 1) / 12 = 21845.
[[nodiscard]] constexpr std::int32_t bell_from_word(std::uint32_t word) {
  return static_cast<std::int32_t>((word & 255U) + (word >> 8U & 255U) + (word >> 16U & 255U) + (word >> 24U)) - 510;
}

/// Factor of a weight or cache element: float(bell_from_word(word)) * content_factor(scale), then rounded (to nearest,
/// ties to even) to the storage type.
[[nodiscard]] float content_factor(double scale);

/// A token id below `vocabulary`.
[[nodiscard]] constexpr std::uint32_t token_from_word(std::uint32_t word, std::int64_t vocabulary) {
  return static_cast<std::uint32_t>(std::uint64_t{word} * static_cast<std::uint64_t>(vocabulary) >> 32U);
}

/// Contents of all buffers, by index; token buffers hold integers.
using BufferContents = std::vector<std::vector<double>>;

/// Random weights, caches and tokens as above, rounded to `type`. Activations are poisoned with NaN.
[[nodiscard]] BufferContents initial_contents(const Program& program, DataType type, std::uint64_t seed);

/// `value` rounded to `type`: to nearest, ties to even, subnormals kept, infinity beyond the largest number.
[[nodiscard]] double rounded_to(double value, DataType type);

/// The two operations of the reference that depend on heads and positions.
void run_reference_of(const StoreKeysValues& store, BufferContents& contents);
void run_reference_of(const Attend& attend, BufferContents& contents);

// ---- The double-precision result that every backend is compared with.

/// Runs the operations one after another in double precision, without intermediate rounding. StoreKeysValues rotates
/// the queries in place; the packed keys stay unchanged. Norms add 1e-6 to the mean square or variance.
void run_reference(const Program& program, BufferContents& contents);

/// Added to the mean square or the variance before the square root.
inline constexpr double norm_epsilon = 1e-6;

/// Base of the rotary angles position * rotary_base^(-2 i / head_dim) of the pairs (i, i + head_dim / 2).
inline constexpr double rotary_base = 10'000.0;

}  // namespace foredraft::latency
