// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/model_bytes.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/check.hpp"
#include "foredraft/errors.hpp"
#include "latency/operations/step_operations.hpp"
#include "latency/operations/step_writer.hpp"

namespace foredraft::latency {
namespace {

/// Throws DomainError for an encoder-decoder, whose weights and caches are not counted.
void check_counted(const ModelShape& shape, const Deployment& deployment) {
  check_deployment(shape, deployment);
  if (shape.architecture == Architecture::encoder_decoder) {
    throw DomainError(fmt::format(
        "invalid architecture=encoder_decoder (must be decoder or head: the memory of {} is not counted)", shape.name));
  }
}

/// The operators of a decode step of one sequence, with weights.
std::vector<WeightedOperator> weighted_operators(const ModelShape& shape, const Deployment& deployment) {
  if (shape.head.block_size > 0) {
    return write_pass(WrittenPass::block_drafting, shape, deployment, block_point(shape.head, 1, 1, 0));
  }
  return write_pass(WrittenPass::decoder, shape, deployment, {});
}

Deployment on_one_device(Deployment deployment) {
  deployment.tensor_parallel = deployment.pipeline_parallel = 1;
  return deployment;
}

/// Cache bytes of one sequence on one device, per token and per token of a window.
struct CacheOfSequence {
  double token = 0.0;
  double window_token = 0.0, local_tokens = 0.0;  ///< per token of windows; total of local tokens of sparse attention
};

CacheOfSequence cache_of(const ModelShape& shape, const Deployment& deployment, std::int64_t devices) {
  const double bytes = bits_of(deployment.kv_cache) / 8.0;
  const auto entry = [&](const AttentionHeads& heads) {
    const double kv_heads = std::ceil(as_double(heads.kv_heads) / as_double(devices));
    return bytes * kv_heads * as_double(heads.key_dim + (shape.single_cache ? 0 : heads.value_dim));
  };
  const double one = shape.latent.kv_rank > 0 ? bytes * as_double(shape.latent.kv_rank + shape.latent.rope_dim)
                                              : entry(attention_heads(shape));
  CacheOfSequence cache{.window_token = as_double(shape.window.layers) * entry(window_heads(shape))};
  double whole = as_double(attention_layers(shape) - shape.window.layers);
  for (const SparseAttention& sparse : shape.sparse) {
    const double index = sparse.index_heads > 0 ? index_key_bytes(sparse.index_dim) : 0.0;
    cache.token += as_double(sparse.layers) * (one + index) / as_double(sparse.tokens_per_entry);
    cache.local_tokens += as_double(sparse.layers) * as_double(sparse.local_tokens) * one;
    whole -= as_double(sparse.layers);
  }
  cache.token += whole * one;
  return cache;
}

double state_bytes_of(const ModelShape& shape) {
  return state_bytes * as_double(shape.linear.layers) * as_double(shape.linear.state_elements);
}

/// Parameters of an unsplit copy of the model. `active`: only the experts of one token.
double parameters_of(ModelShape shape, bool active) {
  if (active) shape.experts.count = shape.experts.per_token;
  const Deployment whole;
  std::vector<WeightedOperator> all = weighted_operators(shape, whole);
  if (shape.architecture == Architecture::encoder_decoder) {
    for (const WeightedOperator& one : write_pass(WrittenPass::encoder, shape, whole, {})) all.push_back(one);
  }
  double sum = as_double(shape.further_parameters);
  for (const WeightedOperator& one : all) {
    if (!one.shared) sum += one.step.count * one.stored.parameters;
  }
  return sum;
}

}  // namespace

double parameters(const ModelShape& shape) { return parameters_of(shape, false); }

double active_parameters(const ModelShape& shape) {
  // The router still has a row for each expert.
  const Experts& experts = shape.experts;
  const double mixtures =
      as_double(feed_forward_layers(shape) - std::min(experts.dense_layers, feed_forward_layers(shape)));
  const double rows = experts.count > 0 ? mixtures * as_double(experts.count - experts.per_token) : 0.0;
  return parameters_of(shape, true) + rows * (as_double(shape.d_model) + (shape.bias ? 1.0 : 0.0));
}

double step_parameters(const ModelShape& shape) {
  double sum = 0.0;
  for (const WeightedOperator& one : weighted_operators(shape, {})) sum += one.step.count * one.read.parameters;
  return sum;
}

double weight_bytes_per_device(const ModelShape& shape, const Deployment& deployment) {
  check_counted(shape, deployment);
  double layers = as_double(shape.further_parameters) * bits_of(deployment.weights.unquantized()) / 8.0 /
                  as_double(deployment.tensor_parallel);
  double embedding = 0.0, vocabulary = 0.0;
  for (const WeightedOperator& one : weighted_operators(shape, deployment)) {
    if (one.shared) continue;
    const double bytes = one.step.count * one.stored.bytes;
    (one.step.name == "embedding" ? embedding : one.step.name == "vocabulary" ? vocabulary : layers) += bytes;
  }
  if (deployment.pipeline_parallel == 1) return layers + embedding + vocabulary;
  // The first devices have the embedding, the last ones the vocabulary projection.
  const double share =
      std::ceil(as_double(shape.layers) / as_double(deployment.pipeline_parallel)) / as_double(shape.layers);
  return layers * share + std::max(embedding, shape.tied ? embedding : vocabulary);
}

double weight_bytes(const ModelShape& shape, const Deployment& deployment) {
  return weight_bytes_per_device(shape, on_one_device(deployment));
}

double step_bytes(const ModelShape& shape, const Deployment& deployment) {
  check_counted(shape, deployment);
  double bytes = 0.0;
  for (const WeightedOperator& one : weighted_operators(shape, on_one_device(deployment))) {
    bytes += one.step.count * one.read.bytes;
  }
  return bytes;
}

double kv_bytes_per_token(const ModelShape& shape, const Deployment& deployment) {
  return cache_of(shape, deployment, 1).token;
}

double sequence_bytes_per_device(const ModelShape& shape, const Deployment& deployment, std::int64_t context) {
  check_counted(shape, deployment);
  check_range("context", context, 0, largest_extent);
  const CacheOfSequence cache = cache_of(shape, deployment, deployment.tensor_parallel);
  const double states = state_bytes_of(shape) / as_double(deployment.tensor_parallel);
  const double bytes = as_double(context) * cache.token +
                       as_double(std::min(context, shape.window.tokens)) * cache.window_token + cache.local_tokens +
                       states;
  return bytes / as_double(deployment.pipeline_parallel);
}

double rollback_bytes(const ModelShape& shape, std::int64_t tokens) {
  check_at_least("tokens", tokens, 1);
  return as_double(tokens - 1) * state_bytes_of(shape);
}

}  // namespace foredraft::latency
