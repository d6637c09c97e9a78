// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/simulator.hpp"
#include "sim/token/pooled/pooled_tables.hpp"
#include "sim/token/rows/row_operations.hpp"

namespace foredraft::sim {

/// Slots prefetched ahead of their use: more than the misses that one core keeps in flight.
inline constexpr std::size_t prefetch_distance = 16;

/// A uniform number on [0, 1) of 53 bits.
[[nodiscard]] inline double to_uniform(std::uint64_t word) { return static_cast<double>(word >> 11U) * 0x1.0p-53; }

/// The candidates after the first one, for many positions of a pool at a time, so that cache misses overlap.
///
/// Every residual of recursive rejection has the form max(0, p - c q) (ResidualMass), so a position stores the number c
/// instead of a distribution. A candidate is tested in constant or logarithmic time, and a token of the last residual
/// is found by rejection from the first one. Only nearly exhausted q needs O(V) work.
class CandidateWave {
 public:
  /// Requires tables.candidates().
  CandidateWave(const PooledTables& tables, const RunKey& key, std::uint64_t block);

  /// The first candidate tokens[j] of a position in contexts[j] was rejected. Replaces it by the token that the
  /// position emits; entry j of the result is 1 for an accepted candidate. Valid until the next call.
  std::span<const std::uint8_t> try_all(std::span<const std::uint32_t> contexts, std::span<Token> tokens);

  /// Draws tokens[j] from max(0, p - c[j] q), normalized, in contexts[j]; c >= 1, and a residual that has mass.
  void draw_residuals(std::span<const std::uint32_t> contexts, std::span<const double> c, std::span<Token> tokens);

 private:
  /// Not emitted yet: residual max(0, p - c q) / mass, next candidate from q / rest over the tokens not yet rejected.
  struct Position {
    std::uint32_t index;  ///< j
    std::uint32_t context;
    double c;
    double mass;
    double rest;
  };

  void begin(std::span<const std::uint32_t> contexts, std::span<const Token> tokens);
  /// Every pending position tries candidate number `tried` + 1; those that reject it stay pending.
  void try_candidate(std::size_t tried, std::span<Token> tokens);
  /// Every pending position emits a token of its residual, by rejection from max(0, p - q).
  void draw_from_last_residual(std::span<Token> tokens);

  /// Draws a token of every pending position into drawn_, and prefetches its probabilities.
  template <class Slot>
  void draw(const std::vector<Slot>& table);
  /// The same only for the positions in drawing_.
  template <class Slot>
  void draw_again(const std::vector<Slot>& table);
  /// Redraws candidates, all together, until none is a token that its position has rejected.
  void redraw_rejected(std::size_t tried);
  void emit_by_distributions(const Position& position, std::size_t tried, std::span<Token> tokens);
  /// Emits a token of the residual from all of its V weights; if they round to 0, the token stays.
  void emit_by_weights(const Position& position, std::span<Token> tokens);

  [[nodiscard]] std::size_t place(const Position& position, Token token) const {
    return position.context * tables_.vocabulary() + static_cast<std::size_t>(token);
  }
  [[nodiscard]] bool is_rejected(const Position& position, Token token, std::size_t tried) const;

  const PooledTables& tables_;
  const PooledCandidates& candidates_;
  std::size_t count_;
  bool distinct_;  ///< drawn without replacement
  WordSource words_;
  RandomStream late_;
  std::vector<Position> pending_;
  std::vector<std::uint32_t> drawing_;  ///< places in pending_
  std::vector<std::size_t> slots_;
  std::vector<std::uint64_t> shares_;
  std::vector<Token> drawn_;
  std::vector<Token> rejected_;  ///< position j's rejected candidates, in order, from j * count_ on
  std::vector<std::uint8_t> accepted_;
};

}  // namespace foredraft::sim
