// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "foredraft/overlap.hpp"
#include "foredraft/quantities.hpp"

/// What drafting while the target verifies would reach.
namespace foredraft::answers {

struct OverlapRow {
  OverlappedDrafting drafting;
  double speedup;                     ///< over autoregressive decoding, in closed form
  std::optional<Estimate> simulated;  ///< the same in virtual time; empty for alpha = 1, where no draft is rejected
  std::int64_t best_gamma;            ///< of 1 to 1000
  double best_speedup;                ///< at best_gamma
  std::optional<double>
      target_servers;  ///< of Overlap::dsi on devices of its own: forward passes of the target that overlap at most
};

/// Every schedule on devices of its own, PEARL and DSI also on a shared one. Throws DomainError for values outside of
/// the ranges of OverlappedDrafting.
[[nodiscard]] std::vector<OverlapRow> overlap_rows(double alpha, std::int64_t gamma, double c);

/// A document for each row.
[[nodiscard]] nlohmann::ordered_json to_json(std::span<const OverlapRow> rows);

}  // namespace foredraft::answers
