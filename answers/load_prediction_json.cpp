// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "answers/load_prediction.hpp"
#include "answers/prediction.hpp"
#include "core/json_values.hpp"
#include "latency/engines/engines.hpp"
#include "latency/surfaces/pair_surface.hpp"
#include "scenario/value.hpp"

namespace foredraft::answers {
namespace {

using Json = nlohmann::ordered_json;

Json quantiles_json(const Estimate& mean, const Estimate& p50, const Estimate& p95, const Estimate& p99) {
  return {{"mean", mean.mean},
          {"p50", finite_json(p50.mean)},
          {"p95", finite_json(p95.mean)},
          {"p99", finite_json(p99.mean)}};
}

Json served_json(const Estimates& served) {
  return {{"mean_batch", served.mean_batch.mean},
          {"mean_in_system", served.mean_in_system.mean},
          {"tokens_per_s", served.tokens_per_s.mean},
          {"ttft_ms", quantiles_json(served.first_token_ms, served.first_token_p50_ms, served.first_token_p95_ms,
                                     served.first_token_p99_ms)},
          {"tpot_ms", quantiles_json(served.tpot_ms, served.tpot_p50_ms, served.tpot_p95_ms, served.tpot_p99_ms)},
          {"request_ms",
           quantiles_json(served.latency_ms, served.latency_p50_ms, served.latency_p95_ms, served.latency_p99_ms)}};
}

std::string_view name_of(BatchLimit limit) {
  return limit == BatchLimit::memory ? "memory" : limit == BatchLimit::times ? "times" : "setting";
}

std::string_view name_of(ArrivalKind kind) {
  return kind == ArrivalKind::closed ? "closed" : kind == ArrivalKind::recorded ? "recorded" : "poisson";
}

std::string_view name_of(Payoff payoff) {
  return payoff == Payoff::pays ? "pays" : payoff == Payoff::within_error ? "not_certain" : "does_not_pay";
}

Json equilibrium_json(const analytic::LoadEquilibrium& equilibrium) {
  return {{"overloaded", equilibrium.overloaded},
          {"batch", finite_json(equilibrium.batch)},
          {"decoding", finite_json(equilibrium.decoding)},
          {"waiting", finite_json(equilibrium.waiting)},
          {"capacity_requests_per_s", finite_json(equilibrium.capacity_per_s)}};
}

/// Means of a server that is not overloaded.
Json closed_form_json(const LoadQuestion& question, const analytic::LoadEquilibrium& equilibrium) {
  const analytic::LoadShares& shares = equilibrium.shares;
  return {{"requests_per_s", equilibrium.requests_per_s},
          {"output_tokens_per_s", equilibrium.requests_per_s * question.output.tokens},
          {"tpot_ms", equilibrium.tpot_us / scenario::us_per_ms},
          {"ttft_ms", equilibrium.ttft_us / scenario::us_per_ms},
          {"request_ms", equilibrium.request_us / scenario::us_per_ms},
          {"in_flight", equilibrium.in_flight},
          {"iteration_ms", equilibrium.iteration_us / scenario::us_per_ms},
          {"shares",
           {{"verification", shares.verification},
            {"drafting", shares.drafting},
            {"prompts", shares.prompts},
            {"engine", shares.engine}}}};
}

Json length_json(const LoadQuestion& question, const AtLoad& at) {
  const bool fits = at.max_batch > 0;
  return {{"gamma", at.gamma},
          {"tokens_per_iteration", at.tokens},
          {"fits", fits},
          {"max_batch", at.max_batch},
          {"max_batch_by", name_of(at.limit)},
          {"memory_bytes", value_or_null(at.memory_bytes)},
          {"beyond_graphs", fits ? Json(at.beyond_graphs) : Json(nullptr)},
          {"equilibrium", fits ? equilibrium_json(at.equilibrium) : Json(nullptr)},
          {"closed_form", at.answers() ? closed_form_json(question, at.equilibrium) : Json(nullptr)},
          {"simulated", at.served ? served_json(*at.served) : Json(nullptr)},
          {"request_speedup", at.speedup ? Json(at.speedup->request) : Json(nullptr)},
          {"request_speedup_interval", interval_json(at.request_interval)},
          {"decode_speedup", at.speedup ? Json(at.speedup->decode) : Json(nullptr)},
          {"decode_speedup_interval", interval_json(at.decode_interval)},
          {"meets_objective", value_or_null(at.meets_objective)},
          {"requests_per_s_per_gpu", fits ? finite_json(at.requests_per_s_per_gpu) : Json(nullptr)},
          {"cost_per_million_output_tokens", value_or_null(at.cost_per_million)}};
}

/// The engine and its assumed terms.
Json engine_json(const LoadPrediction& prediction) {
  const latency::Engine& engine = prediction.engine;
  Json covered = Json::array();
  if (prediction.question.engine) {
    covered.push_back(engine.name);
  } else {
    for (const latency::Engine& one : latency::common_engines()) covered.push_back(one.name);
  }
  return {{"name", engine.name},
          {"summary", engine.summary},
          {"source", engine.source},
          {"named", prediction.question.engine.has_value()},
          {"covered", std::move(covered)},
          {"asynchronous", engine.asynchronous},
          {"slot_by_slot", engine.slot_by_slot},
          {"prefill", engine.prefill == Prefill::chunked ? "chunked" : "alone"},
          {"pass_tokens", engine.prefill == Prefill::chunked ? Json(engine.pass_tokens) : Json(nullptr)},
          {"graph_tokens", prediction.question.graph_tokens.value_or(engine.graph_tokens)}};
}

/// An integer if the value is one. The mean of a recording may not be.
Json mean_tokens_json(double tokens) {
  const auto count = static_cast<std::int64_t>(tokens);
  return static_cast<double>(count) == tokens ? Json(count) : Json(tokens);
}

Json p95_json(const TokenCount& count) { return count.p95 > 0.0 ? Json(count.p95) : Json(nullptr); }

void add_load(const LoadQuestion& question, Json& json) {
  const bool closed = question.arrivals.kind == ArrivalKind::closed;
  json["arrivals"] = name_of(question.arrivals.kind);
  json["concurrency"] = closed ? Json(question.arrivals.clients) : Json(nullptr);
  json["requests_per_s"] = closed ? Json(nullptr) : Json(question.arrivals.rate_per_s);
  json["prompt_tokens"] = mean_tokens_json(question.prompt.tokens);
  json["prompt_p95"] = p95_json(question.prompt);
  json["output_tokens"] = mean_tokens_json(question.output.tokens);
  json["output_p95"] = p95_json(question.output);
  json["prefix_hit"] = question.prefix_hit;
}

/// With a fixed number of clients, the draft length of the lowest cost. At a fixed request rate all draft lengths cost
/// the same, and the maximum rate per GPU decides.
std::optional<std::int64_t> cheapest(const LoadPrediction& prediction) {
  if (!prediction.question.gpu_hour_price) return std::nullopt;
  if (prediction.question.arrivals.kind != ArrivalKind::closed) return prediction.best_throughput;
  const AtLoad* least = nullptr;
  for (const AtLoad& at : prediction.lengths) {
    if (!at.cost_per_million) continue;
    if (least == nullptr || *at.cost_per_million < *least->cost_per_million) least = &at;
  }
  return least == nullptr ? std::nullopt : std::optional(least->gamma);
}

Json scheduled_json(const LoadPrediction& prediction) {
  if (!prediction.scheduled) return nullptr;
  Json json{{"ranges", schedule_json(prediction.scheduled->schedule)},
            {"switch_ms", prediction.question.switch_us / scenario::us_per_ms},
            {"switch_margin", prediction.question.switch_margin}};
  json.update(length_json(prediction.question, *prediction.scheduled));
  return json;
}

}  // namespace

nlohmann::ordered_json to_json(const LoadPrediction& prediction) {
  const LoadQuestion& question = prediction.question;
  const ProfileQuestion& pair = question.pair;
  Json json{{"schema", "foredraft.predict.load/1"}};
  json["evidence"] = {{"class", prediction.evidence.name},
                      {"error", prediction.evidence.error},
                      {"interval_level", value_or_null(prediction.evidence.interval_level)}};
  json["device"] = prediction.decoding.device;
  json["prompt_device"] = question.prompts ? Json(question.prompts->profile.device.name) : Json(nullptr);
  json["gpus"] = prediction.gpus;
  json["engine"] = engine_json(prediction);
  json["target"] = pair.target;
  json["draft"] = pair.draft;
  json["drafter"] = latency::drafter_word(pair.drafting);
  json["convention"] = to_string(pair.convention);
  json["acceptance"] = Json::object();
  add_acceptance(pair, json["acceptance"]);
  add_load(question, json);
  json["objective"] = {{"ttft_p99_ms", value_or_null(question.objective.ttft_ms)},
                       {"tpot_p99_ms", value_or_null(question.objective.tpot_ms)}};
  json["gpu_hour_price"] = value_or_null(question.gpu_hour_price);
  if (!prediction.decoding.notes.empty()) json["notes"] = prediction.decoding.notes;
  const AtLoad* shown = prediction.shown();
  json["gamma"] = shown == nullptr ? Json(nullptr) : Json(shown->gamma);
  const Json length = length_json(question, shown == nullptr ? AtLoad{} : *shown);
  for (const char* key : {"request_speedup", "request_speedup_interval", "decode_speedup", "decode_speedup_interval"}) {
    json[key] = length.at(key);
  }
  json["payoff"] = judged(prediction) != nullptr ? Json(name_of(payoff_of(prediction))) : Json(nullptr);
  json["best_gamma"] = {{"latency", value_or_null(prediction.best_latency)},
                        {"throughput", value_or_null(prediction.best_throughput)},
                        {"cost", value_or_null(cheapest(prediction))}};
  json["adaptive_gain"] = value_or_null(prediction.adaptive_gain);
  json["schedule"] = scheduled_json(prediction);
  json["gammas"] = list_json(prediction.lengths, [&](const AtLoad& at) { return length_json(question, at); });
  return json;
}

}  // namespace foredraft::answers
