// SPDX-License-Identifier: Apache-2.0
#include "sim/process/gamma_policy.hpp"

namespace foredraft::sim {

const std::vector<PolicyEntry>& policy_registry() {
  static const std::vector<PolicyEntry> entries{
      {.name = "confidence_threshold",
       .summary = "drafts until a token of confidence below policy.threshold",
       .source = "Wolf2020: assisted generation of the transformers library"},
      {.name = "constant", .summary = "the same gamma in every iteration", .source = "Leviathan2023, Alg. 1"},
      {.name = "optimal_stopping",
       .summary = "drafts while the next token's chance exceeds c times the best speedup",
       .source = "ours; fixed point as Dinkelbach1967"},
      {.name = "plus2_minus1",
       .summary = "gamma + 2 behind a fully accepted draft, else gamma - 1, at least 1 (alias heuristic)",
       .source = "Wagner2024, Sec. 4.1; Wolf2020"},
  };
  return entries;
}

}  // namespace foredraft::sim
