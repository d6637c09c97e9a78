// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/random_stream.hpp"
#include "foredraft/models.hpp"
#include "sim/simulator.hpp"
#include "sim/token/rows/vector_kernels.hpp"
#include "sim/uniform_index.hpp"

namespace foredraft::sim {

/// Generates words of one stream in order, many at a time.
class WordSource {
 public:
  WordSource(const RunKey& key, Purpose purpose, std::uint64_t block)
      : seed_(key.seed), id_{.purpose = purpose, .point = key.point, .block = block} {}

  /// The next `count` words; valid until the next call.
  std::span<const std::uint64_t> next(std::size_t count) {
    words_.resize((count + word_granule - 1) / word_granule * word_granule);
    fill_words(seed_, id_, draw_, words_);
    draw_ += words_.size() / 2;
    return std::span(words_).first(count);
  }

 private:
  std::uint64_t seed_;
  StreamId id_;
  std::uint64_t draw_ = 0;
  std::vector<std::uint64_t> words_;
};

// ---- Draws from a fixed distribution over tokens by the alias method [Walker1977; Vose1991], in integers.
//
// A distribution over V tokens is rounded to multiples of 1 / (V * 2^46), which the table represents exactly; tokens of
// probability 0 are never drawn. A slot has 64 bits: the low 18 are the alias, the high 46 the fraction of the slot
// that belongs to its own token.

using AliasSlot = std::uint64_t;

inline constexpr unsigned alias_bits = 18;
inline constexpr unsigned share_bits = 64 - alias_bits;

/// The table of a distribution that sums to 1 up to round-off; 1 to max_vocabulary entries.
[[nodiscard]] std::vector<AliasSlot> alias_table(std::span<const double> distribution);

/// Position of a uniform 64-bit word among `slots` slots: the slot, and the fraction within it.
struct SlotDraw {
  std::uint32_t slot;
  std::uint64_t share;  ///< uniform on [0, 2^46)
};

[[nodiscard]] inline SlotDraw slot_draw(std::uint64_t word, std::size_t slots) {
  const Uint128 product = Uint128{word} * slots;
  return {static_cast<std::uint32_t>(product >> 64U), static_cast<std::uint64_t>(product) >> alias_bits};
}

/// True if the draw is the slot's own token; otherwise it is alias_of(slot).
[[nodiscard]] inline bool keeps_own(AliasSlot slot, std::uint64_t share) { return share < slot >> alias_bits; }

[[nodiscard]] inline std::uint32_t alias_of(AliasSlot slot) {
  return static_cast<std::uint32_t>(slot & ((AliasSlot{1} << alias_bits) - 1));
}

// ---- Sums, softmax and draws over one row of a vocabulary, in double precision and in a fixed order.

/// Sum of a row by eight interleaved partial sums: limited by memory bandwidth, with the same bits everywhere.
[[nodiscard]] double row_sum(std::span<const double> row);

/// Index of the largest entry, the lowest on ties.
[[nodiscard]] std::size_t row_argmax(std::span<const double> row);

/// Sets the row to the point mass at `index`.
void write_point_mass(std::size_t index, std::span<double> row);

/// Divides the row by its sum and returns true; does nothing and returns false if the sum is 0. Divides instead of
/// multiplying by a reciprocal, so that a row with a single entry becomes exactly 1.
bool normalize(std::span<double> row);

/// distribution = exp(logits / temperature), normalized, with the largest logit subtracted first; temperature 0: the
/// point mass at the largest logit, lowest index on ties. Logits may be -infinity, but not all of them.
void softmax(std::span<const double> logits, double temperature, std::span<double> distribution);

/// distribution^(1 / temperature), normalized: the same as softmax(logits, temperature) if distribution =
/// softmax(logits, 1). Entries of 0 stay 0; temperature 1 changes nothing.
void apply_temperature(std::span<double> distribution, double temperature);

/// Sets the tokens that are not kept to 0. Returns false and changes nothing if the truncation keeps every row of this
/// size whole: top_p 1, and top_k 0 or at least the size. The row need not sum to 1.
template <class Real>
bool truncate_row(std::span<Real> row, const Truncation& truncation);

/// How a model's tokens are drawn from its distribution.
struct Sampling {
  double temperature = 1.0;
  Truncation truncation = {};
};

/// apply_temperature(), then the truncation, normalized.
void apply_sampling(std::span<double> distribution, const Sampling& sampling);

/// - sum p ln p (nat).
[[nodiscard]] double row_entropy(std::span<const double> distribution);

/// sum min(p, q) as 1 - sum |p - q| / 2, which is accurate to round-off if the sum is close to 1.
[[nodiscard]] double overlap(std::span<const double> p, std::span<const double> q);

/// block_sums[b] = sum of entries [512 b, 512 (b + 1)) of a row of float or double, in double precision.
template <class Real>
void sum_row_blocks(std::span<const Real> row, std::span<double> block_sums);

/// The first entry with a running sum above u * total, u in [0, 1); never an entry of weight 0. `block_sums`: from
/// sum_row_blocks(); `total` is their sum.
template <class Real>
[[nodiscard]] std::size_t draw_by_inversion(std::span<const Real> weights, std::span<const double> block_sums,
                                            double total, double u);

/// Draws a token from a row with the next uniform.
[[nodiscard]] std::int32_t draw_token(std::span<const double> distribution, RandomStream& random);

}  // namespace foredraft::sim
