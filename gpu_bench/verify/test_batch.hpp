// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "gpu_bench/verify/verifiers.hpp"
#include "latency/operations/program.hpp"

/// A small batch to verify, made on the host, with its expected output: used by the device's self-test of the
/// verifiers.
namespace foredraft::gpu_bench {

/// Logits are rounded to their storage type. Drafts are sampled from the drafter's rows; request b has b modulo gamma +
/// 1 of them. The tree of launch_verifier.hpp has the same drafts as nodes.
struct TestBatch {
  VerificationShape shape;
  DrawStream draws;
  std::vector<double> target_logits;       ///< [batch, gamma + 1, vocabulary]
  std::vector<double> draft_logits;        ///< [batch, gamma, vocabulary]
  std::vector<std::int32_t> drafts;        ///< [batch, gamma], no_token after a request's last
  std::vector<std::int32_t> draft_counts;  ///< [batch]
  std::vector<std::int32_t> node_tokens;   ///< [batch, gamma + 1]
};

[[nodiscard]] TestBatch test_batch(const VerificationShape& shape, latency::DataType type, std::uint64_t seed);

struct ExpectedTokens {
  std::vector<std::int32_t> tokens;
  bool may_differ;  ///< a decision is within the rounding of this verifier
};

/// Throws std::logic_error for wagner_sigmoid, whose tokens follow none of these references.
[[nodiscard]] ExpectedTokens expected_tokens(Verifier verifier, const TestBatch& batch, std::int64_t request,
                                             latency::DataType type);

}  // namespace foredraft::gpu_bench
