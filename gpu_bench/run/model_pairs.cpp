// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/run/model_pairs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "foredraft/errors.hpp"
#include "latency/models/model_registry.hpp"

namespace foredraft::gpu_bench {
namespace {

struct NamedPair {
  std::string_view target, drafter;
  latency::Role drafting;
};

/// Heads stand on the target itself.
constexpr NamedPair named_pairs[] = {
    {"llama-2-7b", "sheared-llama-1.3b", latency::Role::autoregressive_drafting},
    {"qwen1.5-7b", "qwen1.5-0.5b", latency::Role::autoregressive_drafting},
    {"gemma-7b", "gemma-2b", latency::Role::autoregressive_drafting},
    {"t5-xxl", "t5-small", latency::Role::autoregressive_drafting},
    {"t5-xxl", "t5-base", latency::Role::autoregressive_drafting},
    {"t5-xxl", "t5-large", latency::Role::autoregressive_drafting},
    {"whisper-large-v2", "distil-large-v2", latency::Role::autoregressive_drafting},
    {"whisper-small.en", "distil-small.en", latency::Role::autoregressive_drafting},
    {"llama-3.1-8b", "eagle-llama-3.1-8b", latency::Role::autoregressive_drafting},
    {"llama-2-7b", "llama-2-7b", latency::Role::head_drafting},
    {"transformer-base", "specdec-drafter-12-2", latency::Role::block_drafting},
    {"transformer-base", "specdec-drafter-256-1024", latency::Role::block_drafting},
    {"bart-base", "specdec-drafter-12-2", latency::Role::block_drafting},
    {"t5-large", "specdec-drafter-24-6", latency::Role::block_drafting},
    {"transformer-base", "transformer-base-12-2", latency::Role::autoregressive_drafting},
    {"transformer-big", "transformer-base-12-2", latency::Role::autoregressive_drafting},
    {"llama-2-13b", "sheared-llama-1.3b", latency::Role::autoregressive_drafting},
    {"vicuna-33b", "vicuna-33b", latency::Role::head_drafting},
    {"llama-3.1-70b", "eagle-llama-3.1-70b", latency::Role::autoregressive_drafting},
};

constexpr NamedPair named_cpu_pairs[] = {
    {"transformer-base", "transformer-base-12-2", latency::Role::autoregressive_drafting},
    {"transformer-base", "specdec-drafter-256-1024", latency::Role::block_drafting},
    {"t5-base", "t5-small", latency::Role::autoregressive_drafting},
};

/// Refused here, before anything is measured, and not at its first cell.
PlannedModel planned(const latency::ModelShape& shape) {
  if (const auto reason = latency::why_not_runnable(shape)) {
    throw DomainError(fmt::format("{}: cannot be measured ({}) - measure another model, or predict from a data sheet",
                                  shape.name, *reason));
  }
  return {.name = shape.name,
          .source_length = shape.source_length,
          .positions = shape.positions == latency::Positions::learned ? shape.learned_positions : 0};
}

PlannedPair planned_pair(const std::vector<latency::ModelShape>& models, std::string_view target,
                         std::string_view drafter, latency::Role drafting) {
  return {.target = planned(latency::find_model(models, target)),
          .drafter = planned(latency::find_model(models, drafter)),
          .drafting = drafting};
}

latency::Role drafting_of(std::string_view target, std::string_view drafter) {
  const bool by_blocks = std::any_of(std::begin(named_pairs), std::end(named_pairs), [&](const NamedPair& pair) {
    return pair.target == target && pair.drafter == drafter && pair.drafting == latency::Role::block_drafting;
  });
  return by_blocks ? latency::Role::block_drafting : latency::Role::autoregressive_drafting;
}

std::vector<PlannedPair> planned_pairs(const std::vector<latency::ModelShape>& models,
                                       std::span<const NamedPair> named) {
  std::vector<PlannedPair> pairs;
  for (const NamedPair& pair : named) pairs.push_back(planned_pair(models, pair.target, pair.drafter, pair.drafting));
  return pairs;
}

}  // namespace

std::vector<PlannedPair> usual_pairs(const std::vector<latency::ModelShape>& models) {
  return planned_pairs(models, named_pairs);
}

std::vector<PlannedPair> usual_cpu_pairs(const std::vector<latency::ModelShape>& models) {
  return planned_pairs(models, named_cpu_pairs);
}

std::vector<PlannedPair> pairs_of(const std::vector<latency::ModelShape>& models,
                                  const std::vector<std::string>& names) {
  if (names.empty()) throw DomainError("no models named - the first is the target, the others draft for it");
  std::vector<PlannedPair> pairs;
  for (std::size_t i = names.size() == 1 ? 0 : 1; i < names.size(); ++i) {
    pairs.push_back(planned_pair(models, names.front(), names[i], drafting_of(names.front(), names[i])));
  }
  return pairs;
}

latency::Program program_of(const std::vector<latency::ModelShape>& models, const latency::Cell& cell) {
  return latency::program_of(latency::find_model(models, cell.model), cell);
}

}  // namespace foredraft::gpu_bench
