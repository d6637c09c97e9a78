// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// What the references make of one row of logits; see verification.hpp for logits that are no numbers.
namespace foredraft::gpu_bench {

struct ReferenceRow {
  explicit ReferenceRow(std::span<const double> stored);

  std::vector<double> logits;  ///< as they count
  std::vector<double> logs;    ///< logarithms of the probabilities; -inf for all where nothing is finite
  std::size_t top;             ///< the first of the largest
  bool empty;                  ///< nothing is finite
  bool fault;                  ///< NaN or +inf is in it, or nothing finite
};

struct ReferenceDraw {
  std::int32_t token;
  double margin;  ///< distance of the draw from the next token's share
};

/// The token on which `uniform` falls by inverse CDF over rising tokens; token 0 where all weights are 0.
[[nodiscard]] ReferenceDraw reference_draw(const std::vector<double>& weights, double uniform);

/// The same from the probabilities of a row.
[[nodiscard]] ReferenceDraw reference_draw(const ReferenceRow& row, double uniform);

}  // namespace foredraft::gpu_bench
