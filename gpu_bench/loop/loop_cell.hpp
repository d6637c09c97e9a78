// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "latency/profile/cell.hpp"

namespace foredraft::gpu_bench {

/// One decoding loop that is run: who drafts how much for whom, and how much of it is accepted.
struct LoopCell {
  std::string target, drafter;  ///< names of shapes; heads stand on the target itself
  latency::Role drafting = latency::Role::autoregressive_drafting;  ///< one of the three drafting roles
  std::string dtype;                                                ///< "fp16", "bf16", "fp32"
  latency::Launch launch = latency::Launch::graph;
  std::int64_t gamma = 1;    ///< drafts of each sequence an iteration, at least 1
  double alpha = 0.0;        ///< every draft behind accepted ones is accepted with this probability
  std::int64_t batch = 1;    ///< sequences, each going on by its own number of tokens
  std::int64_t context = 0;  ///< tokens that each already holds; it does not grow

  auto operator<=>(const LoopCell&) const = default;
};

/// "t5-base from t5-small (autoregressive_drafting) fp32 gamma 5 alpha 0.8 batch 2 context 192": for messages.
[[nodiscard]] std::string to_text(const LoopCell& cell);

/// Throws DomainError for a role that drafts nothing, counts below their least and an alpha outside [0, 1].
void check_loop_cell(const LoopCell& cell);

}  // namespace foredraft::gpu_bench
