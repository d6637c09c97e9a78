// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "latency/models/deployment.hpp"
#include "latency/models/model_shape.hpp"

/// What one forward pass of any model moves and computes on one device, operator by operator, in closed form. For
/// models that also run (why_not_runnable) the counts equal those of their programs.
namespace foredraft::latency {

enum class OperatorKind { product, attention, other, all_reduce };

/// Equal operators of a pass.
struct StepOperator {
  std::string_view name;  ///< "qkv", "attention", "experts", "vocabulary", "all-reduce", ...
  OperatorKind kind = OperatorKind::other;
  NumberFormat compute = NumberFormat::bf16;  ///< decides the matrix peak
  double count = 1.0;
  double bytes = 0.0;  ///< read and written by one device, of one; of an all-reduce: of the reduced tensor
  double flop = 0.0;   ///< of one, on one device
};

/// One pass over `tokens` new tokens of each of `batch` sequences that hold `context` tokens.
struct StepPoint {
  std::int64_t batch = 1;
  std::int64_t tokens = 1;
  std::int64_t context = 0;
};

/// The pass of a decoder or a head, logits of every new token included. Throws DomainError for an encoder-decoder, a
/// degree of tensor parallelism that does not divide the heads and a point out of range.
[[nodiscard]] std::vector<StepOperator> step_operations(const ModelShape& shape, const Deployment& deployment,
                                                        const StepPoint& point);

/// Experts of `count` that `rows` tokens read, `per_token` each. skew 0: count (1 - (1 - per_token/count)^rows),
/// routing independent and uniform, an upper bound; 1: per_token, all tokens share their experts; linear between.
[[nodiscard]] double experts_read(const Experts& experts, double rows, double skew);

/// Weights of the whole model as stored, all devices together, in bytes.
[[nodiscard]] double weight_bytes(const ModelShape& shape, const Deployment& deployment);

/// Weights that one decode step of one sequence reads, all devices together, in bytes.
[[nodiscard]] double step_bytes(const ModelShape& shape, const Deployment& deployment);

/// KV cache of one token of one sequence, all layers without a window, all devices together (copies counted once).
[[nodiscard]] double kv_bytes_per_token(const ModelShape& shape, const Deployment& deployment);

/// KV cache and states that one sequence of `context` tokens holds on one device; windows and copies counted.
[[nodiscard]] double sequence_bytes_per_device(const ModelShape& shape, const Deployment& deployment,
                                               std::int64_t context);

/// State that a verification of `tokens` tokens has to keep so that any number of them can be taken back, per sequence,
/// beyond what a decode step holds; 0 without linear attention.
[[nodiscard]] double rollback_bytes(const ModelShape& shape, std::int64_t tokens);

}  // namespace foredraft::latency
