// SPDX-License-Identifier: Apache-2.0
#include "inputs/deployment.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

namespace foredraft::inputs {
namespace {

constexpr std::int64_t max_devices = 1024;
constexpr double max_overhead_us = 1e9;

using Asked = AskedDeployment;

/// Options of data sheets come first; they do not apply to measured times.
constexpr std::array<RequestField<Asked>, 15> fields_of_deployment{
    {{"assume", &Asked::assume},
     {"target-format", &Asked::target_format},
     {"draft-format", &Asked::draft_format},
     {"kv-format", &Asked::kv_format},
     {"target-tp", WholeNumber<Asked>{&Asked::target_tp, 1, max_devices}},
     {"draft-tp", WholeNumber<Asked>{&Asked::draft_tp, 1, max_devices}},
     {"target-pp", WholeNumber<Asked>{&Asked::target_pp, 1, max_devices}},
     {"expert-skew", RealNumber<Asked>{&Asked::expert_skew, 0.0, 1.0}},
     {"bandwidth-efficiency", RealNumber<Asked>{&Asked::bandwidth_efficiency, 0.01, 1.0}},
     {"compute-efficiency", RealNumber<Asked>{&Asked::compute_efficiency, 0.01, 1.0}},
     {"step-overhead-us", RealNumber<Asked>{&Asked::step_overhead_us, 0.0, max_overhead_us}},
     {"memory-utilization", RealNumber<Asked>{&Asked::memory_utilization, 0.01, 1.0}},
     {"draft-host-us", RealNumber<Asked>{&Asked::draft_host_us, 0.0, max_overhead_us}},
     {"ignore-memory", &Asked::ignore_memory},
     {"allow-vocabulary-mismatch", &Asked::allow_vocabulary_mismatch}}};
constexpr std::size_t sheet_fields = 11;

/// Limits the search for gamma to the draft's maximum and to the positions of known acceptance. A stated gamma stays.
void limit_drafts(std::int64_t most, answers::ProfileQuestion& question) {
  if (question.gamma) return;
  const auto* positional = std::get_if<Positional>(&question.acceptance);
  const auto known = positional == nullptr ? most : static_cast<std::int64_t>(positional->marginal.size());
  question.max_gamma = std::min({most, known, question.max_gamma.value_or(most)});
}

}  // namespace

std::span<const RequestField<AskedDeployment>> deployment_fields() { return fields_of_deployment; }

void reject_deployment(const AskedDeployment& asked, ProblemList& problems) {
  reject_stated(asked, deployment_fields(),
                {.text = "given without --device",
                 .why = "it describes how models run on a device",
                 .suggestion = "e.g. --device h200"},
                problems);
}

DeployedPair read_deployed_pair(const AskedPair& asked, const latency::Profile& profile, ProblemList& problems,
                                BesideTimes beside) {
  if (profile.source != latency::Source::datasheet && beside == BesideTimes::rejected) {
    reject_stated(asked.deployment, deployment_fields().first(sheet_fields),
                  {.text = "not used with measured times",
                   .why = "a profile's times are those of its own deployment",
                   .suggestion = "remove it, or name a data sheet with --device"},
                  problems);
  }
  problems.raise();
  DeployedPair pair = read_pair(asked, profile);
  if (pair.head_problem) problems.add({.key = "--draft", .text = *pair.head_problem});
  if (pair.vocabulary_problem && !asked.deployment.allow_vocabulary_mismatch) {
    problems.add({.key = "--draft",
                  .text = *pair.vocabulary_problem,
                  .suggestion = "use a draft of the target's family, or add --allow-vocabulary-mismatch"});
  }
  problems.raise();
  return pair;
}

latency::AttainableOverrides attained_of(const AskedDeployment& asked) {
  return {.bandwidth_efficiency = asked.bandwidth_efficiency,
          .compute_efficiency = asked.compute_efficiency,
          .step_us = asked.step_overhead_us,
          .iteration_us = {}};
}

void deploy(const AskedDeployment& asked, DeployedPair pair, answers::ProfileQuestion& question,
            std::vector<FileDigest>& files) {
  question.attained = attained_of(asked);
  question.memory_utilization = asked.memory_utilization.value_or(latency::default_memory_utilization);
  question.ignore_memory = asked.ignore_memory;
  question.target = std::move(pair.target);
  question.draft = std::move(pair.draft);
  question.models = std::move(pair.models);
  question.target_deployment = pair.target_deployment;
  question.draft_deployment = pair.draft_deployment;
  question.host = pair.host;
  if (pair.at_once && question.drafting == latency::Role::autoregressive_drafting) {
    question.drafting = latency::Role::block_drafting;
  }
  if (pair.max_drafts > 0) limit_drafts(pair.max_drafts, question);
  files.insert(files.end(), pair.files.begin(), pair.files.end());
}

}  // namespace foredraft::inputs
