// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "foredraft/quantities.hpp"
#include "logs/observations_file.hpp"

/// How acceptance differs between requests and kinds of prompts: what the pooled mean hides.
namespace foredraft::experiments {

/// One category, kind of answer or range of contexts.
struct StratumTokens {
  std::string dimension;  ///< "category", "reasoning", "context"
  std::string name;       ///< "coding", "on", "1k to 2k"
  std::size_t observations;
  double steps;
  Estimate tokens;  ///< per iteration
};

/// Tokens per iteration of single requests: what so many of them stay below.
struct RequestSpread {
  std::size_t requests;
  double tenth, half, nine_tenths;
};

/// Of the observations at this draft length (nothing: of all) that counted steps. A dimension is there where its values
/// were logged and two of them at least hold 200 steps each; in it the lowest acceptance length comes first, contexts
/// in their order.
[[nodiscard]] std::vector<StratumTokens> tokens_by_stratum(std::span<const logs::ObservedLog> logs,
                                                           const std::optional<std::int64_t>& gamma);

/// Of requests of 20 steps or more; nothing where there are fewer than 10.
[[nodiscard]] std::optional<RequestSpread> spread_of_requests(std::span<const logs::ObservedLog> logs,
                                                              const std::optional<std::int64_t>& gamma);

}  // namespace foredraft::experiments
