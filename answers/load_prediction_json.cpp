// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <string_view>

#include "answers/load_prediction.hpp"
#include "answers/prediction.hpp"
#include "core/json_values.hpp"
#include "latency/surfaces/pair_surface.hpp"

namespace foredraft::answers {
namespace {

using Json = nlohmann::ordered_json;

Json quantiles_json(const Estimate& mean, const Estimate& p50, const Estimate& p99) {
  return {{"mean", mean.mean}, {"p50", p50.mean}, {"p99", p99.mean}};
}

Json served_json(const Estimates& served) {
  return {{"mean_batch", served.mean_batch.mean},
          {"mean_in_system", served.mean_in_system.mean},
          {"tokens_per_s", served.tokens_per_s.mean},
          {"ttft_ms", quantiles_json(served.first_token_ms, served.first_token_p50_ms, served.first_token_p99_ms)},
          {"tpot_ms", quantiles_json(served.tpot_ms, served.tpot_p50_ms, served.tpot_p99_ms)},
          {"request_ms", quantiles_json(served.latency_ms, served.latency_p50_ms, served.latency_p99_ms)}};
}

std::string_view name_of(BatchLimit limit) {
  return limit == BatchLimit::memory ? "memory" : limit == BatchLimit::times ? "times" : "setting";
}

Json length_json(const AtRate& at) {
  Json json{{"gamma", at.gamma},
            {"tokens_per_iteration", at.tokens},
            {"fits", at.max_batch > 0},
            {"max_batch", at.max_batch},
            {"max_batch_by", name_of(at.limit)},
            {"equilibrium", nullptr},
            {"simulated", at.served ? served_json(*at.served) : Json(nullptr)},
            {"request_speedup", at.speedup ? Json(at.speedup->request) : Json(nullptr)},
            {"request_speedup_interval", interval_json(at.request_interval)},
            {"decode_speedup", at.speedup ? Json(at.speedup->decode) : Json(nullptr)},
            {"decode_speedup_interval", interval_json(at.decode_interval)},
            {"meets_objective", value_or_null(at.meets_objective)},
            {"requests_per_s_per_gpu", at.max_batch > 0 ? Json(at.requests_per_s_per_gpu) : Json(nullptr)},
            {"cost_per_million_output_tokens", value_or_null(at.cost_per_million)}};
  if (at.max_batch > 0) {
    json["equilibrium"] = {{"overloaded", at.equilibrium.overloaded},
                           {"batch", finite_json(at.equilibrium.batch)},
                           {"decoding", finite_json(at.equilibrium.decoding)},
                           {"waiting", finite_json(at.equilibrium.waiting)},
                           {"capacity_requests_per_s", at.equilibrium.capacity_per_s}};
  }
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
  json["target"] = pair.target;
  json["draft"] = pair.draft;
  json["drafter"] = latency::drafter_word(pair.drafting);
  json["convention"] = to_string(pair.convention);
  json["acceptance"] = Json::object();
  add_acceptance(pair, json["acceptance"]);
  json["requests_per_s"] = question.requests_per_s;
  json["prompt_tokens"] = question.prompt_tokens;
  json["output_tokens"] = question.output_tokens;
  json["objective"] = {{"ttft_p99_ms", value_or_null(question.objective.ttft_ms)},
                       {"tpot_p99_ms", value_or_null(question.objective.tpot_ms)}};
  json["gpu_hour_price"] = value_or_null(question.gpu_hour_price);
  if (!prediction.decoding.notes.empty()) json["notes"] = prediction.decoding.notes;
  const AtRate* shown = prediction.shown();
  json["gamma"] = shown == nullptr ? Json(nullptr) : Json(shown->gamma);
  const Json length = length_json(shown == nullptr ? AtRate{} : *shown);
  for (const char* key : {"request_speedup", "request_speedup_interval", "decode_speedup", "decode_speedup_interval"}) {
    json[key] = length.at(key);
  }
  json["best_gamma"] = {{"latency", value_or_null(prediction.best_latency)},
                        {"throughput", value_or_null(prediction.best_throughput)},
                        {"cost", question.gpu_hour_price ? value_or_null(prediction.best_throughput) : Json(nullptr)}};
  json["gammas"] = Json::array();
  for (const AtRate& at : prediction.lengths) json["gammas"].push_back(length_json(at));
  return json;
}

}  // namespace foredraft::answers
