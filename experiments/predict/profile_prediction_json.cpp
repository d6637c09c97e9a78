// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/draft_length/measured_draft_length.hpp"
#include "analytic/tokens/iid_tokens.hpp"
#include "analytic/tokens/token_law.hpp"
#include "core/marginals.hpp"
#include "experiments/predict/profile_prediction.hpp"
#include "latency/surfaces/drafter_words.hpp"

namespace foredraft::experiments {
namespace {

using Json = nlohmann::ordered_json;

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json latency_json(const latency::Latency& latency) {
  const double ms = latency.time_us / 1e3;
  Json json{{"ms", ms}, {"ci95_ms", nullptr}, {"origin", to_string(latency.origin)}, {"inside", latency.inside}};
  if (latency.spread) json["ci95_ms"] = {ms / (1.0 + *latency.spread), ms * (1.0 + *latency.spread)};
  return json;
}

/// Null where it is not known.
Json sampling_json(const latency::Latency& latency) {
  return latency.time_us > 0.0 ? latency_json(latency) : Json(nullptr);
}

Drafting charged(latency::Role role) {
  return role == latency::Role::block_drafting ? Drafting::block : Drafting::autoregressive;
}

Json length_json(const ProfileQuestion& question, const AtBatch& at, const AtDraftLength& length) {
  const double iteration_us = analytic::iteration_time(length.iteration);
  const std::int64_t passes = draft_passes(length.gamma, charged(question.drafting));
  Json json{{"gamma", length.gamma},
            {"verify", latency_json(length.verify)},
            {"drafting", latency_json(length.drafting)},
            {"sampling", sampling_json(length.sampling)},
            {"iteration_ms", iteration_us / 1e3},
            {"verification_growth", analytic::verification_growth(length.iteration)},
            {"tokens_per_iteration", length.tokens},
            {"speedup", length.speedup},
            {"speedup_ci95", nullptr},
            {"tokens_per_s", 1e6 * static_cast<double>(at.batch) * length.tokens / iteration_us},
            {"break_even_alpha",
             optional_json(analytic::break_even_alpha(length.iteration, length.gamma, question.convention))},
            {"break_even_c", optional_json(analytic::break_even_c(length.iteration, length.tokens, passes))}};
  if (length.spread) {
    json["speedup_ci95"] = {length.speedup * (1.0 - *length.spread), length.speedup * (1.0 + *length.spread)};
  }
  return json;
}

Json cell_json(const ProfileQuestion& question, const AtBatch& at) {
  Json json{
      {"batch", at.batch},
      {"context", at.context},
      {"plain", latency_json(at.plain)},
      {"plain_sampling", sampling_json(at.plain_sampling)},
      {"plain_tokens_per_s", 1e6 * static_cast<double>(at.batch) / (at.plain.time_us + at.plain_sampling.time_us)},
      {"one_draft", latency_json(at.one_draft)},
      {"best_gamma", at.use},
      {"best_speedup", at.use == 0 ? 1.0 : at.lengths[static_cast<std::size_t>(at.use) - 1].speedup},
      {"gammas", Json::array()}};
  for (const AtDraftLength& length : at.lengths) json["gammas"].push_back(length_json(question, at, length));
  return json;
}

double variance_of(const ProfileQuestion& question, std::int64_t gamma) {
  if (question.marginal.empty()) {
    return analytic::tokens_variance(analytic::IidIteration{question.alpha, gamma, question.convention});
  }
  return analytic::tokens_variance(question.marginal, gamma, question.convention);
}

}  // namespace

nlohmann::ordered_json to_json(const ProfilePrediction& prediction) {
  const ProfileQuestion& question = prediction.question;
  const AtBatch& first = prediction.cells.front();
  const AtDraftLength* shown = shown_length(question, first);
  const double tokens = shown == nullptr ? 1.0 : shown->tokens;
  const std::int64_t gamma = shown == nullptr ? 0 : shown->gamma;
  Json json{{"schema", "foredraft.predict/1"}, {"convention", to_string(question.convention)}};
  json["drafter"] = latency::drafter_word(question.drafting);
  if (question.marginal.empty()) {
    json["alpha"] = question.alpha;
    if (question.acceptance_length) json["acceptance_length"] = *question.acceptance_length;
  } else {
    json["conditional"] = conditional_from_marginal(question.marginal);
    json["marginal"] = question.marginal;
  }
  const Json cell = cell_json(question, first);
  json["gamma"] = gamma;
  json["tokens_per_iteration"] = tokens;
  json["tokens_variance"] = shown == nullptr ? 0.0 : variance_of(question, gamma);
  json["speedup"] = shown == nullptr ? 1.0 : shown->speedup;
  json["operations_factor"] = nullptr;
  json["memory_access_factor"] = analytic::memory_access_factor(tokens);
  json["best_gamma"] = cell["best_gamma"];
  json["best_speedup"] = cell["best_speedup"];
  json["real_gamma"] = nullptr;
  json["oracle_speedup"] = nullptr;
  json["profile"] = {{"device", prediction.device},
                     {"source", to_string(prediction.source)},
                     {"valid", prediction.valid},
                     {"dtype", prediction.setting.dtype},
                     {"cache", to_string(prediction.setting.cache)},
                     {"launch", to_string(prediction.setting.launch)}};
  json["target"] = question.target;
  json["draft"] = question.draft;
  json["overhead_us"] = question.overhead_us;
  json["schedules"] = Json::array();
  for (std::size_t i = 0; i < question.contexts.size(); ++i) {
    Json ranges = Json::array();
    for (const ScheduleRange& range : prediction.schedules[i]) ranges.push_back({range.first, range.last, range.gamma});
    json["schedules"].push_back({{"context", question.contexts[i]}, {"schedule", std::move(ranges)}});
  }
  json["cells"] = Json::array();
  for (const AtBatch& at : prediction.cells) json["cells"].push_back(cell_json(question, at));
  return json;
}

}  // namespace foredraft::experiments
