// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "latency/profile/verification_cell.hpp"

/// Which verifications are worth timing, the most important first.
namespace foredraft::gpu_bench {

/// A verifier to be timed, as a graph. One for whose results the host waits is timed launch by launch too, as it runs,
/// where its logits lie in the cache: what waiting costs hides the difference.
struct PlannedVerifier {
  std::string name;
  bool waits_for_host = false;
};

/// Groups to be measured side by side, all verifiers over the same logits, the most important first: the core grid of
/// batches 1, 8, 64, of gamma 1, 5, 20 and of vocabularies 32,000, 128,256, 256,000 in fp16, at batch 1 first, cold and
/// hot; the same in fp32; at batch 1 and 64 and gamma 5 other vocabularies, bf16, and other logits.
[[nodiscard]] std::vector<std::vector<latency::VerificationCell>> plan_verifications(
    const std::vector<PlannedVerifier>& verifiers);

/// What passes of this type and launch sample with: fused_exact over real-like logits, hot, for the pass has just
/// written them, with gamma 0 (a token from each row), 1, 4 and 8. A group a batch and vocabulary, batches in their
/// order; equal vocabularies count once.
[[nodiscard]] std::vector<std::vector<latency::VerificationCell>> plan_sampling(
    const std::vector<std::int64_t>& batches, std::vector<std::int64_t> vocabularies, const std::string& dtype,
    latency::Launch launch);

}  // namespace foredraft::gpu_bench
