// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "latency/profile/cell.hpp"

namespace foredraft::latency {

/// One verification step that is timed.
struct VerificationCell {
  std::string verifier;
  std::string dtype;  ///< of the logits
  std::int64_t batch = 1;
  std::int64_t gamma = 5;  ///< drafts a request
  std::int64_t vocabulary = 1;
  std::string logits;  ///< what they look like: "real_like", "peaked", "flat"
  Cache cache = Cache::cold;
  Launch launch = Launch::graph;

  auto operator<=>(const VerificationCell&) const = default;
};

/// "fused_exact fp16 batch 1 gamma 5 vocabulary 32000 peaked cold graph"
[[nodiscard]] std::string to_text(const VerificationCell& cell);

}  // namespace foredraft::latency
