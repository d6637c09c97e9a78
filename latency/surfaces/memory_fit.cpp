// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/memory_fit.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "core/check.hpp"
#include "latency/models/storage.hpp"
#include "latency/operations/model_bytes.hpp"

namespace foredraft::latency {
namespace {

constexpr std::int64_t largest_batch = 100'000'000;

double bytes_of_value(const Deployment& deployment) { return bits_of(deployment.weights.unquantized()) / 8.0; }

/// Values of the activations of one token on one device that exist at the same time: residual stream, its norm, the
/// next delta, the widest block, and the logits, which every device gathers.
double activation_values(const ModelShape& shape, std::int64_t devices) {
  const auto share = [devices](std::int64_t width) { return as_double(width) / as_double(devices); };
  const auto& latent = shape.latent;
  const auto widest = [](const AttentionHeads& heads) { return 2 * (heads.heads + heads.kv_heads) * heads.key_dim; };
  const std::int64_t attention =
      latent.kv_rank > 0 ? shape.heads * (latent.nope_dim + 2 * latent.rope_dim + 2 * latent.kv_rank + latent.value_dim)
                         : std::max(widest(attention_heads(shape)), widest(window_heads(shape)));
  const std::int64_t inner = shape.gated ? 3 : 2;  // gate, up and their product
  const auto& experts = shape.experts;
  const std::int64_t dense = inner * shape.d_ff;
  const std::int64_t mixture = inner * (experts.per_token * experts.d_ff + experts.shared_d_ff);
  const double added = as_double(experts.count > 0 ? experts.per_token * shape.d_model : 0);
  return as_double((2 + shape.residual_streams) * shape.d_model + shape.vocabulary) + added +
         share(std::max({attention, dense, mixture}));
}

/// Parts of the target's embedding and vocabulary projection that a head on fewer devices needs in addition to the
/// first device's share.
double further_tables_bytes(const DeployedModel& target, const DeployedModel& draft) {
  const ModelShape& shape = *target.shape;
  if (draft.shape->architecture != Architecture::head) return 0.0;
  const WeightFormats& formats = target.deployment.weights;
  const double vocabulary = formats.of(ModelPart::vocabulary).bits;
  const double embedding = shape.tied ? vocabulary : formats.of(ModelPart::embedding).bits;
  const double projection = draft.shape->head.own_vocabulary || shape.tied ? 0.0 : vocabulary;
  const double bytes = as_double(shape.vocabulary) * as_double(shape.d_model) / 8.0;
  // In a pipeline the first devices have the embedding and the last ones the vocabulary projection.
  const bool pipeline = target.deployment.pipeline_parallel > 1;
  const double held = pipeline ? std::max(embedding, projection) : embedding + projection;
  return bytes * (embedding + projection) / as_double(draft.deployment.tensor_parallel) -
         bytes * held / as_double(target.deployment.tensor_parallel);
}

double sequence_bytes(const DeployedModel& model, std::int64_t tokens, std::int64_t context) {
  return sequence_bytes_per_device(*model.shape, model.deployment, context) +
         rollback_bytes(*model.shape, tokens) / as_double(devices_of(model.deployment));
}

}  // namespace

MemoryNeed memory_need(const DeployedModel& target, const DeployedModel& draft, std::int64_t batch, std::int64_t tokens,
                       std::int64_t context) {
  check_range("batch", batch, 1, largest_batch);
  check_at_least("tokens", tokens, 1);
  const double rows = as_double(batch) * as_double(tokens);
  MemoryNeed need;
  need.target_weights_bytes = weight_bytes_per_device(*target.shape, target.deployment);
  need.sequence_bytes = sequence_bytes(target, tokens, context);
  need.activation_bytes =
      rows * activation_values(*target.shape, target.deployment.tensor_parallel) * bytes_of_value(target.deployment);
  if (draft.shape != nullptr) {
    if (devices_of(draft.deployment) > devices_of(target.deployment)) {
      throw DomainError(fmt::format("invalid tensor_parallel={} of the drafter {} (must be at most the target's, {})",
                                    devices_of(draft.deployment), draft.shape->name, devices_of(target.deployment)));
    }
    need.draft_weights_bytes =
        weight_bytes_per_device(*draft.shape, draft.deployment) + further_tables_bytes(target, draft);
    need.sequence_bytes += sequence_bytes(draft, tokens, context);
  }
  return need;
}

std::int64_t max_batch(const DeployedModel& target, const DeployedModel& draft, std::int64_t tokens,
                       std::int64_t context, double capacity_bytes) {
  check_nonnegative("capacity_bytes", capacity_bytes);
  std::int64_t fitting = 0, beyond = largest_batch + 1;
  while (beyond - fitting > 1) {
    const std::int64_t batch = fitting + (beyond - fitting) / 2;
    const bool fits = memory_need(target, draft, batch, tokens, context).total(batch) <= capacity_bytes;
    (fits ? fitting : beyond) = batch;
  }
  return fitting;
}

namespace {

DeployedModel target_of(const DeployedModels& models) { return {&models.target, models.target_deployment}; }

DeployedModel draft_of(const DeployedModels& models) {
  return {models.draft ? &*models.draft : nullptr, models.draft_deployment};
}

}  // namespace

MemoryNeed MemoryLimit::need(std::int64_t batch, std::int64_t tokens, std::int64_t context) const {
  return memory_need(target_of(models), draft_of(models), batch, tokens, context + tokens);
}

bool MemoryLimit::fits(std::int64_t batch, std::int64_t tokens, std::int64_t context) const {
  return need(batch, tokens, context).total(batch) <= capacity_bytes;
}

std::int64_t MemoryLimit::max_batch(std::int64_t tokens, std::int64_t context) const {
  return latency::max_batch(target_of(models), draft_of(models), tokens, context + tokens, capacity_bytes);
}

void MemoryLimit::check(std::int64_t batch, std::int64_t tokens, std::int64_t context) const {
  if (fits(batch, tokens, context)) return;
  constexpr double gb = 1e9;
  throw DomainError(fmt::format(
      "does not fit: {:.1f} GB of {:.1f} GB per device at batch {}, context {}; the largest batch that fits is "
      "{} - use a smaller batch, more devices (target_tp) or narrower formats, or ignore memory",
      need(batch, tokens, context).total(batch) / gb, capacity_bytes / gb, batch, context, max_batch(tokens, context)));
}

}  // namespace foredraft::latency
