// SPDX-License-Identifier: Apache-2.0
#include "experiments/models/deployed_pair.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "core/problems.hpp"
#include "latency/models/model_registry.hpp"

namespace foredraft::experiments {
namespace {

using latency::NumberFormat;

bool has_steps(const latency::Profile& profile, const std::string& model) {
  return std::any_of(profile.steps.begin(), profile.steps.end(),
                     [&](const latency::StepRow& row) { return row.cell.model == model; });
}

std::optional<ReadModel> read_named(const latency::Profile& profile, std::string& name, DeployedPair& pair) {
  const bool known = std::ranges::find(pair.models, name, &latency::ModelShape::name) != pair.models.end();
  if (latency::holds_steps_alone(profile.source) || (!known && has_steps(profile, name))) return std::nullopt;
  ReadModel read = read_model(name);
  name = read.shape.name;
  for (const std::string& note : read.notes) pair.notes.push_back(fmt::format("{}: {}", name, note));
  if (!read.digests.empty()) {
    pair.files.insert(pair.files.end(), read.digests.begin(), read.digests.end());
    std::erase_if(pair.models, [&](const latency::ModelShape& shape) { return shape.name == name; });
    pair.models.push_back(read.shape);
  }
  return read;
}

latency::Deployment deployment_of(const std::optional<ReadModel>& model, std::optional<NumberFormat> weights,
                                  std::optional<NumberFormat> cache, std::int64_t devices, double skew) {
  latency::Deployment deployment{.tensor_parallel = devices, .expert_skew = skew};
  deployment.weights = weights ? *weights : (model ? model->weights : std::nullopt).value_or(NumberFormat::fp16);
  deployment.kv_cache =
      cache ? *cache
            : (model ? model->kv_cache : std::nullopt).value_or(latency::usual_cache_format(deployment.weights));
  return deployment;
}

}  // namespace

DeployedPair read_pair(const AskedPair& asked, const latency::Profile& profile) {
  DeployedPair pair{.target = asked.target, .draft = asked.draft, .models = latency::model_registry()};
  const std::optional<ReadModel> target = read_named(profile, pair.target, pair);
  if (asked.heads) pair.draft = pair.target;
  const std::optional<ReadModel> draft = asked.heads ? target : read_named(profile, pair.draft, pair);
  if (target && draft && !asked.heads) {
    pair.head_problem = head_problem(target->shape, draft->shape);
    pair.vocabulary_problem = vocabulary_problem(target->shape, draft->shape);
    if (auto note = vocabulary_note(target->shape, draft->shape)) pair.notes.push_back(*std::move(note));
  }
  const AskedDeployment& on = asked.deployment;
  pair.target_deployment = deployment_of(target, on.target_format, on.kv_format, on.target_tp, on.expert_skew);
  pair.draft_deployment = deployment_of(draft, on.draft_format, on.kv_format, on.draft_tp, on.expert_skew);
  return pair;
}

std::string format_suggestion(std::string_view word) {
  std::vector<std::string> known;
  for (const NumberFormat one : latency::number_formats()) known.emplace_back(to_string(one));
  return suggestion_for(word, known);
}

}  // namespace foredraft::experiments
