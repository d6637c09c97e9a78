// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/run/verification_plan.hpp"

#include <algorithm>

namespace foredraft::gpu_bench {
namespace {

/// The logits of a group, in the words of a cell.
struct LogitsOfGroup {
  std::string dtype;
  std::int64_t batch, gamma, vocabulary;
  std::string logits;
  latency::Cache cache;
};

std::vector<LogitsOfGroup> logits_in_order() {
  std::vector<LogitsOfGroup> order;
  for (const char* dtype : {"fp16", "fp32"}) {
    for (const std::int64_t batch : {1, 8, 64}) {
      for (const latency::Cache cache : {latency::Cache::cold, latency::Cache::hot}) {
        for (const std::int64_t gamma : {5, 1, 20}) {
          for (const std::int64_t vocabulary : {32'000, 128'256, 256'000}) {
            order.push_back({dtype, batch, gamma, vocabulary, "real_like", cache});
          }
        }
      }
    }
  }
  for (const std::int64_t batch : {1, 64}) {
    for (const std::int64_t vocabulary : {51'865, 151'936}) {
      order.push_back({"fp16", batch, 5, vocabulary, "real_like", latency::Cache::cold});
    }
    for (const char* logits : {"peaked", "flat"})
      order.push_back({"fp16", batch, 5, 128'256, logits, latency::Cache::cold});
    order.push_back({"bf16", batch, 5, 128'256, "real_like", latency::Cache::cold});
  }
  return order;
}

}  // namespace

std::vector<std::vector<latency::VerificationCell>> plan_verifications(const std::vector<PlannedVerifier>& verifiers) {
  std::vector<std::vector<latency::VerificationCell>> groups;
  for (const LogitsOfGroup& of : logits_in_order()) {
    std::vector<latency::VerificationCell>& group = groups.emplace_back();
    for (const PlannedVerifier& verifier : verifiers) {
      latency::VerificationCell cell{.verifier = verifier.name,
                                     .dtype = of.dtype,
                                     .batch = of.batch,
                                     .gamma = of.gamma,
                                     .vocabulary = of.vocabulary,
                                     .logits = of.logits,
                                     .cache = of.cache,
                                     .launch = latency::Launch::graph};
      group.push_back(cell);
      if (!verifier.waits_for_host || of.cache == latency::Cache::cold) continue;
      cell.launch = latency::Launch::eager;
      group.push_back(cell);
    }
  }
  return groups;
}

std::vector<std::vector<latency::VerificationCell>> plan_sampling(const std::vector<std::int64_t>& batches,
                                                                  std::vector<std::int64_t> vocabularies,
                                                                  const std::string& dtype, latency::Launch launch) {
  std::ranges::sort(vocabularies);
  const auto repeated = std::ranges::unique(vocabularies);
  vocabularies.erase(repeated.begin(), repeated.end());
  std::vector<std::vector<latency::VerificationCell>> groups;
  for (const std::int64_t batch : batches) {
    for (const std::int64_t vocabulary : vocabularies) {
      std::vector<latency::VerificationCell>& group = groups.emplace_back();
      for (const std::int64_t gamma : {0, 1, 4, 8}) {
        group.push_back({.verifier = "fused_exact",
                         .dtype = dtype,
                         .batch = batch,
                         .gamma = gamma,
                         .vocabulary = vocabulary,
                         .logits = "real_like",
                         .cache = latency::Cache::hot,
                         .launch = launch});
      }
    }
  }
  return groups;
}

}  // namespace foredraft::gpu_bench
