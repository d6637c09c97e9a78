// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/draft_length/best_gamma.hpp"
#include "answers/prediction.hpp"
#include "answers/profile_prediction.hpp"
#include "core/json_values.hpp"
#include "latency/surfaces/pair_surface.hpp"

namespace foredraft::answers {
namespace {

using Json = nlohmann::ordered_json;

Json latency_json(const latency::Latency& latency) {
  const double ms = latency.time_us / 1e3;
  return {
      {"ms", ms},
      {"ci95_ms", latency.spread ? Json{ms / (1.0 + *latency.spread), ms * (1.0 + *latency.spread)} : Json(nullptr)},
      {"origin", to_string(latency.origin)},
      {"inside", latency.inside}};
}

/// Null if unknown.
Json sampling_json(const std::optional<latency::Latency>& latency) {
  return latency ? latency_json(*latency) : Json(nullptr);
}

Drafting charged(latency::Role role) {
  return role == latency::Role::block_drafting ? Drafting::block : Drafting::autoregressive;
}

Json length_json(const ProfileQuestion& question, const AtBatch& at, const AtDraftLength& length) {
  const double iteration_us = analytic::iteration_time(length.iteration);
  const std::int64_t passes = draft_passes(length.gamma, charged(question.drafting));
  Json json{{"gamma", length.gamma},
            {"verify", latency_json(length.times.verify)},
            {"drafting", latency_json(length.times.drafting)},
            {"sampling", sampling_json(length.times.sampling)},
            {"iteration_ms", iteration_us / 1e3},
            {"verification_growth", analytic::verification_growth(length.iteration)},
            {"tokens_per_iteration", length.tokens},
            {"speedup", length.speedup},
            {"speedup_ci95", interval_json(length.interval)},
            {"speedup_floor", value_or_null(length.floor_speedup)},
            {"tokens_per_s", 1e6 * static_cast<double>(at.batch) * length.tokens / iteration_us},
            {"break_even_alpha",
             value_or_null(analytic::break_even_alpha(length.iteration, length.gamma, question.convention))},
            {"break_even_c", value_or_null(analytic::break_even_c(length.iteration, length.tokens, passes))}};
  if (length.times.catch_up) json["catch_up"] = latency_json(*length.times.catch_up);
  return json;
}

Json need_json(const latency::MemoryNeed& need, std::int64_t batch) {
  return {{"target_weights_bytes", need.target_weights_bytes},
          {"draft_weights_bytes", need.draft_weights_bytes},
          {"kv_cache_bytes", need.sequence_bytes * static_cast<double>(batch)},
          {"activation_bytes", need.activation_bytes},
          {"total_bytes", need.total(batch)}};
}

Json facts_json(const std::optional<ModelFacts>& facts) {
  if (!facts) return nullptr;
  Json json{{"layers", facts->shape.layers},
            {"d_model", facts->shape.d_model},
            {"experts", facts->shape.experts.count},
            {"experts_per_token", facts->shape.experts.per_token},
            {"parameters", facts->parameters},
            {"active_parameters", facts->active_parameters},
            {"weight_bytes", facts->weight_bytes},
            {"step_bytes", facts->step_bytes},
            {"kv_bytes_per_token", facts->kv_bytes_per_token},
            {"format", to_text(facts->deployment.weights)},
            {"kv_format", to_string(facts->deployment.kv_cache)},
            {"tensor_parallel", facts->deployment.tensor_parallel}};
  const std::int64_t pipeline = facts->deployment.pipeline_parallel;
  if (pipeline > 1) json["pipeline_parallel"] = pipeline;
  return json;
}

Json draft_step_json(const DraftStep& step) {
  const latency::PassParts& parts = step.parts;
  return {{"batch", step.batch},
          {"context", step.context},
          {"gamma", step.gamma},
          {"passes", parts.passes},
          {"inputs_ms", parts.inputs_us / 1e3},
          {"layers_ms", parts.layers_us / 1e3},
          {"vocabulary_ms", parts.vocabulary_us / 1e3},
          {"overhead_ms", parts.overhead_us / 1e3},
          {"host_ms", parts.host_us / 1e3}};
}

Json cell_json(const ProfilePrediction& prediction, const AtBatch& at) {
  const ProfileQuestion& question = prediction.question;
  Json json{{"batch", at.batch},
            {"context", at.context},
            {"plain", latency_json(at.plain)},
            {"plain_sampling", sampling_json(at.plain_sampling)},
            {"plain_tokens_per_s",
             1e6 * static_cast<double>(at.batch) / (at.plain.time_us + latency::charged_us(at.plain_sampling))},
            {"one_draft", latency_json(at.one_draft)},
            {"best_gamma", at.use},
            {"best_speedup", at.use == 0 ? 1.0 : at.at(at.use).speedup},
            {"plain_floor_ms", at.floor_plain_us ? Json(*at.floor_plain_us / 1e3) : Json(nullptr)},
            {"fits", at.max_batch ? Json(at.fits()) : Json(nullptr)},
            {"max_batch", value_or_null(at.max_batch)},
            {"memory", at.need ? need_json(*at.need, at.batch) : Json(nullptr)},
            {"gammas", Json::array()}};
  if (!prediction.advises(at)) json["best_gamma"] = json["best_speedup"] = nullptr;
  for (const AtDraftLength& length : at.lengths) json["gammas"].push_back(length_json(question, at, length));
  return json;
}

}  // namespace

void add_acceptance(const ProfileQuestion& question, nlohmann::ordered_json& json) {
  const auto* positional = std::get_if<Positional>(&question.acceptance);
  add_stated_acceptance(question.acceptance, positional == nullptr ? std::span<const double>{} : positional->marginal,
                        question.acceptance_length, question.accepted_over_drafted, json);
}

nlohmann::ordered_json to_json(std::span<const ProfilePrediction> predictions) {
  const ProfilePrediction& prediction = predictions.front();
  const ProfileQuestion& question = prediction.question;
  const AtBatch& first = prediction.cells.front();
  const AtDraftLength* shown = shown_length(question, first);
  const double tokens = shown == nullptr ? 1.0 : shown->tokens;
  const std::int64_t gamma = shown == nullptr ? 0 : shown->gamma;
  Json json{{"schema", "foredraft.predict/1"},
            {"convention", to_string(question.convention)},
            {"drafter", question.host ? question.draft : latency::drafter_word(question.drafting)}};
  add_acceptance(question, json);
  const Json cell = cell_json(prediction, first);
  json["gamma"] = gamma;
  json["tokens_per_iteration"] = tokens;
  json["tokens_variance"] =
      shown == nullptr ? Json(0.0) : value_or_null(acceptance_distribution(question, gamma).variance);
  json["speedup"] = !prediction.advises(first) ? Json(nullptr) : Json(shown == nullptr ? 1.0 : shown->speedup);
  json["operations_factor"] = nullptr;
  json["memory_access_factor"] = analytic::memory_access_factor(tokens);
  json["best_gamma"] = cell["best_gamma"];
  json["best_speedup"] = cell["best_speedup"];
  json["real_gamma"] = nullptr;
  json["oracle_speedup"] = nullptr;
  json["profile"] = {{"device", prediction.device},
                     {"source", to_string(prediction.source)},
                     {"valid", prediction.valid},
                     {"interval_level", value_or_null(evidence_of(prediction).interval_level)},
                     {"dtype", prediction.setting.dtype},
                     {"cache", to_string(prediction.setting.cache)},
                     {"launch", to_string(prediction.setting.launch)}};
  json["target"] = question.target;
  json["draft"] = question.draft;
  json["models"] = {{"target", facts_json(prediction.target)}, {"draft", facts_json(prediction.draft)}};
  if (prediction.draft_step) json["draft_step"] = draft_step_json(*prediction.draft_step);
  json["overhead_us"] = question.overhead_us;
  if (!prediction.notes.empty()) json["notes"] = prediction.notes;
  json["schedules"] = Json::array();
  for (std::size_t i = 0; i < question.contexts.size(); ++i) {
    const AtBatch& last = prediction.cells[(i + 1) * question.batches.size() - 1];
    json["schedules"].push_back({{"context", question.contexts[i]},
                                 {"schedule", schedule_json(prediction.schedules[i])},
                                 {"max_batch", value_or_null(last.max_batch)}});
  }
  json["cells"] = Json::array();
  for (const ProfilePrediction& each : predictions) {
    for (const AtBatch& at : each.cells) {
      Json of_cell =
          predictions.size() == 1 ? Json::object() : Json{{"alpha", std::get<Iid>(each.question.acceptance).alpha}};
      of_cell.update(cell_json(each, at));
      json["cells"].push_back(std::move(of_cell));
    }
  }
  return json;
}

}  // namespace foredraft::answers
