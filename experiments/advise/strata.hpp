// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "foredraft/quantities.hpp"
#include "logs/observations_file.hpp"

/// Variation of acceptance between requests and kinds of prompts, which the pooled mean hides.
namespace foredraft::experiments {

/// One category, kind of answer or range of contexts.
struct StratumTokens {
  std::string dimension;  ///< "category", "reasoning", "context"
  std::string name;       ///< "coding", "on", "1k to 2k"
  std::size_t observations;
  double steps;
  Estimate tokens;  ///< per iteration
};

/// Quantiles of tokens per iteration over single requests.
struct RequestSpread {
  std::size_t requests;
  double tenth, half, nine_tenths;
};

/// Strata of the observations at this draft length (empty: of all) that counted steps. A dimension is included if its
/// values were logged and at least two of them have 200 steps each. Within it the lowest acceptance length comes first;
/// contexts are in ascending order.
[[nodiscard]] std::vector<StratumTokens> tokens_by_stratum(std::span<const logs::ObservedLog> logs,
                                                           const std::optional<std::int64_t>& gamma);

/// Over requests of at least 20 steps; nullopt for fewer than 10.
[[nodiscard]] std::optional<RequestSpread> spread_of_requests(std::span<const logs::ObservedLog> logs,
                                                              const std::optional<std::int64_t>& gamma);

}  // namespace foredraft::experiments
