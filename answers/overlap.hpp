// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "foredraft/overlap.hpp"
#include "foredraft/quantities.hpp"

/// Speedups of drafting while the target verifies.
namespace foredraft::answers {

struct OverlapRow {
  OverlappedDrafting drafting;
  double speedup;                        ///< over autoregressive decoding, closed form
  std::optional<Estimate> simulated;     ///< empty for alpha = 1, where no draft is rejected
  std::int64_t best_gamma;               ///< among 1 to 1000
  double best_speedup;                   ///< at best_gamma
  std::optional<double> target_servers;  ///< for Overlap::dsi without a shared device: maximum number of overlapping
                                         ///< forward passes of the target
};

/// A row for every schedule with a device for each model, and for PEARL and DSI also with a shared device. Throws
/// DomainError for values outside the ranges of OverlappedDrafting.
[[nodiscard]] std::vector<OverlapRow> overlap_rows(double alpha, std::int64_t gamma, double c);

/// An array with an object for each row.
[[nodiscard]] nlohmann::ordered_json to_json(std::span<const OverlapRow> rows);

}  // namespace foredraft::answers
