// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/step_operations.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "latency/operations/step_writer.hpp"

namespace foredraft::latency {
namespace {

/// Far beyond any pass; products of counts are floating-point numbers here.
constexpr std::int64_t largest_extent = 100'000'000;

void check_deployment(const ModelShape& shape, const Deployment& deployment) {
  check_shape(shape);
  if (shape.architecture == Architecture::encoder_decoder) {
    throw DomainError(fmt::format(
        "invalid architecture=encoder_decoder (must be decoder or head: {} is counted from its programs)", shape.name));
  }
  check_at_least("tensor_parallel", deployment.tensor_parallel, 1);
  if (shape.heads % deployment.tensor_parallel != 0) {
    throw DomainError(fmt::format("invalid tensor_parallel={} (must divide the {} heads of {})",
                                  deployment.tensor_parallel, shape.heads, shape.name));
  }
  check_probability("expert_skew", deployment.expert_skew);
}

void check_point(const ModelShape& shape, const StepPoint& point) {
  check_range("batch", point.batch, 1, largest_extent);
  check_range("tokens", point.tokens, 1, largest_extent);
  check_range("context", point.context, 0, largest_extent);
  const std::int64_t length = point.context + point.tokens;
  const std::int64_t last = shape.positions == Positions::learned ? shape.learned_positions : shape.max_context;
  if (last > 0 && length > last) {
    throw DomainError(
        fmt::format("invalid context={} (must leave room for the pass: {} positions are needed, {} has {})",
                    point.context, length, shape.name, last));
  }
}

std::vector<WeightedOperator> weighted_operators(const ModelShape& shape, const Deployment& deployment) {
  check_deployment(shape, deployment);
  const StepPoint one_token;
  return StepWriter(shape, deployment, one_token).write();
}

Deployment on_one_device(Deployment deployment) {
  deployment.tensor_parallel = 1;
  return deployment;
}

struct CacheOfToken {
  double full = 0.0, windowed = 0.0;
};

/// KV cache of one token on one of `devices`, in bytes: all layers without a window, all layers with one.
CacheOfToken cache_of_token(const ModelShape& shape, const Deployment& deployment, std::int64_t devices) {
  const double bytes = bits_of(deployment.kv_cache) / 8.0;
  const auto layers = static_cast<double>(attention_layers(shape) - shape.window.layers);
  if (shape.latent.kv_rank > 0) {
    return {.full = layers * static_cast<double>(shape.latent.kv_rank + shape.latent.rope_dim) * bytes};
  }
  const auto values = [devices](std::int64_t kv_heads, std::int64_t head_dim) {
    const std::int64_t heads = (kv_heads + devices - 1) / devices;
    return 2.0 * static_cast<double>(heads) * static_cast<double>(head_dim);
  };
  return {.full = layers * values(shape.kv_heads, shape.head_dim) * bytes,
          .windowed = static_cast<double>(shape.window.layers) *
                      values(window_kv_heads(shape), window_head_dim(shape)) * bytes};
}

double state_bytes_of(const ModelShape& shape) {
  return state_bytes * static_cast<double>(shape.linear.layers) * static_cast<double>(shape.linear.state_elements);
}

}  // namespace

std::string_view to_string(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::product:
      return "product";
    case OperatorKind::attention:
      return "attention";
    case OperatorKind::other:
      return "other";
    case OperatorKind::all_reduce:
      return "all_reduce";
    case OperatorKind::all_gather:
      break;
  }
  return "all_gather";
}

std::vector<StepOperator> step_operations(const ModelShape& shape, const Deployment& deployment,
                                          const StepPoint& point) {
  check_deployment(shape, deployment);
  check_point(shape, point);
  const std::vector<WeightedOperator> weighted = StepWriter(shape, deployment, point).write();
  std::vector<StepOperator> operators;
  operators.reserve(weighted.size());
  for (const WeightedOperator& one : weighted) operators.push_back(one.step);
  return operators;
}

std::vector<StepOperator> draft_step_operations(const ModelShape& shape, const Deployment& deployment,
                                                std::int64_t batch, std::int64_t context, std::int64_t draft) {
  check_at_least("draft", draft, 0);
  std::vector<StepOperator> operators = step_operations(
      shape, deployment, {.batch = batch, .tokens = 1, .context = context + draft, .own_hidden_states = draft > 0});
  const NumberFormat format = unquantized_format(deployment.weights);
  const double logit_bytes = static_cast<double>(drafted_vocabulary(shape)) * bits_of(format) / 8.0;
  operators.push_back({.name = "choose token",
                       .kind = OperatorKind::other,
                       .compute = format,
                       .count = 1.0,
                       .bytes = static_cast<double>(batch) * (logit_bytes + id_bytes)});
  return operators;
}

double experts_read(const Experts& experts, double rows, double skew) {
  check_probability("skew", skew);
  if (!(rows >= 1.0)) throw DomainError(fmt::format("invalid rows={} (must be >= 1)", rows));
  const auto count = static_cast<double>(experts.count);
  const auto used = static_cast<double>(experts.per_token);
  // The same as count (1 - (1 - used / count)^rows), exact for one row.
  const double further = (count - used) * (1.0 - std::pow((count - used) / count, rows - 1.0));
  return used + (1.0 - skew) * further;
}

double weight_bytes_per_device(const ModelShape& shape, const Deployment& deployment) {
  double bytes = static_cast<double>(shape.further_parameters) * bits_of(unquantized_format(deployment.weights)) / 8.0 /
                 static_cast<double>(deployment.tensor_parallel);
  for (const WeightedOperator& one : weighted_operators(shape, deployment)) {
    bytes += one.step.count * one.weights_stored;
  }
  return bytes;
}

double weight_bytes(const ModelShape& shape, const Deployment& deployment) {
  return weight_bytes_per_device(shape, on_one_device(deployment));
}

double step_bytes(const ModelShape& shape, const Deployment& deployment) {
  double bytes = 0.0;
  for (const WeightedOperator& one : weighted_operators(shape, on_one_device(deployment))) {
    bytes += one.step.count * one.weights_read;
  }
  return bytes;
}

double kv_bytes_per_token(const ModelShape& shape, const Deployment& deployment) {
  return cache_of_token(shape, deployment, 1).full;
}

double sequence_bytes_per_device(const ModelShape& shape, const Deployment& deployment, std::int64_t context) {
  check_deployment(shape, deployment);
  check_range("context", context, 0, largest_extent);
  const CacheOfToken one = cache_of_token(shape, deployment, deployment.tensor_parallel);
  return static_cast<double>(context) * one.full +
         static_cast<double>(std::min(context, shape.window.tokens)) * one.windowed +
         state_bytes_of(shape) / static_cast<double>(deployment.tensor_parallel);
}

double rollback_bytes(const ModelShape& shape, std::int64_t tokens) {
  check_at_least("tokens", tokens, 1);
  return static_cast<double>(tokens - 1) * state_bytes_of(shape);
}

}  // namespace foredraft::latency
