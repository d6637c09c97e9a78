// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "answers/advice.hpp"
#include "answers/engine_settings.hpp"
#include "core/digest.hpp"
#include "core/json_values.hpp"

namespace foredraft::answers {
namespace {

using nlohmann::ordered_json;

ordered_json mean_json(const std::optional<Estimate>& estimate) {
  return estimate ? finite_json(estimate->mean) : ordered_json(nullptr);
}

ordered_json ci95_json(const std::optional<Estimate>& estimate) {
  return estimate ? interval_json(normal_interval(*estimate)) : ordered_json(nullptr);
}

ordered_json marginal_json(const Advice& advice) {
  ordered_json marginal = ordered_json::array();
  const analytic::AcceptanceFit* fit = advice.fit();
  if (fit == nullptr || !advice.gamma_observed) return marginal;
  for (const analytic::PooledCounts& counts : fit->counts) {
    if (counts.gamma != *advice.gamma_observed) continue;
    const double steps = std::floor(counts.steps / fit->variance_factor);
    for (const double share : counts.marginal) {
      const Interval interval =
          clopper_pearson(std::llround(std::clamp(share, 0.0, 1.0) * steps), static_cast<std::int64_t>(steps));
      marginal.push_back({{"value", share},
                          {"ci95", interval_json(std::min(share, std::max(0.0, interval.low - counts.rounding)),
                                                 std::max(share, std::min(1.0, interval.high + counts.rounding)))}});
    }
  }
  return marginal;
}

ordered_json model_json(const analytic::AcceptanceFit* fit) {
  if (fit == nullptr || !fit->model) return nullptr;
  ordered_json by_gamma = ordered_json::array();
  for (const analytic::GammaMisfit& one : fit->misfit) {
    by_gamma.push_back({{"gamma", one.gamma},
                        {"observed", one.observed},
                        {"fitted", one.fitted},
                        {"deviation", finite_json(one.deviation)}});
  }
  return {{"name", "easy_and_hard_runs"},
          {"parameters",
           {{"a", fit->model->a}, {"b", fit->model->b}, {"spread", fit->model->spread}, {"rho", fit->model->rho}}},
          {"misfit",
           {{"chi_squared", finite_json(fit->chi_squared)},
            {"degrees_of_freedom", finite_json(fit->degrees_of_freedom)},
            {"by_gamma", by_gamma}}}};
}

std::string_view source_word(analytic::TokensAtGamma::Source source) {
  using Source = analytic::TokensAtGamma::Source;
  return source == Source::observed ? "observed" : source == Source::fitted ? "fitted" : "left_open";
}

ordered_json by_gamma_json(const Advice& advice) {
  ordered_json rows = ordered_json::array();
  for (const analytic::TokensAtGamma& at : advice.by_gamma) {
    rows.push_back({{"gamma", at.gamma},
                    {"value", finite_json(at.value)},
                    {"low", finite_json(at.low)},
                    {"high", finite_json(at.high)},
                    {"extrapolated", at.extrapolated},
                    {"source", source_word(at.source)}});
  }
  return rows;
}

ordered_json speedup_json(const LoadAdvice& load) {
  if (!load.chain) return nullptr;
  return {{"measured", load.chain->speedup.mean}, {"ci95", ci95_json(load.chain->speedup)}};
}

ordered_json explanation_json(const LoadAdvice& load) {
  ordered_json factors = ordered_json::array();
  if (!load.chain) return factors;
  for (const analytic::ChainLink& link : load.chain->links) {
    factors.push_back({{"factor", names_of(link.factor).word},
                       {"value", link.value},
                       {"standard_error", finite_json(link.standard_error)},
                       {"share", finite_json(link.share)}});
  }
  return factors;
}

std::string_view knowledge_word(const LoadAdvice& load, const analytic::SpeedupAt& at) {
  using Knowledge = analytic::TimeAt::Knowledge;
  if (at.knowledge == Knowledge::bounded) return "bounded";
  if (at.knowledge == Knowledge::interpolated) return "interpolated";
  return std::ranges::binary_search(load.gammas, at.gamma) ? "logged" : "predicted";
}

ordered_json speedups_json(const LoadAdvice& load) {
  ordered_json rows = ordered_json::array();
  for (const analytic::SpeedupAt& at : load.by_gamma) {
    rows.push_back({{"gamma", at.gamma},
                    {"value", finite_json(at.value)},
                    {"low", finite_json(at.low)},
                    {"high", finite_json(at.high)},
                    {"iteration_time", knowledge_word(load, at)}});
  }
  return rows;
}

ordered_json prefill_json(const std::optional<analytic::PrefillTime>& prefill) {
  if (!prefill) return nullptr;
  return {{"decode_ms", prefill->decode_ms.mean},
          {"decode_ms_ci95", ci95_json(prefill->decode_ms)},
          {"prompt_token_ms", prefill->per_prompt_token_ms.mean},
          {"prompt_token_ms_ci95", ci95_json(prefill->per_prompt_token_ms)}};
}

ordered_json spread_json(const std::optional<RequestSpread>& spread) {
  if (!spread) return nullptr;
  return {{"requests", spread->requests}, {"p10", spread->tenth}, {"p50", spread->half}, {"p90", spread->nine_tenths}};
}

ordered_json strata_json(const std::vector<StratumTokens>& strata) {
  ordered_json rows = ordered_json::array();
  for (const StratumTokens& one : strata) {
    rows.push_back({{"dimension", one.dimension},
                    {"name", one.name},
                    {"observations", one.observations},
                    {"verification_steps", std::llround(one.steps)},
                    {"tokens_per_iteration", one.tokens.mean},
                    {"ci95", ci95_json(one.tokens)}});
  }
  return rows;
}

ordered_json load_json(const LoadAdvice& load) {
  return {{"batch", value_or_null(load.requests)},
          {"context", value_or_null(load.context_tokens)},
          {"category", value_or_null(load.load.category)},
          {"request_rate_per_s", value_or_null(load.load.request_rate_per_s)},
          {"gamma", value_or_null(load.gamma)},
          {"tokens_per_iteration", mean_json(load.tokens)},
          {"iteration_ms", mean_json(load.iteration_ms)},
          {"plain_ms", mean_json(load.plain_ms)},
          {"speedup", speedup_json(load)},
          {"explanation", explanation_json(load)},
          {"speedup_by_gamma", speedups_json(load)},
          {"best_gamma", load.best ? ordered_json{{"gamma", load.best->best.gamma}, {"ties", load.best->ties}}
                                   : ordered_json(nullptr)},
          {"arms_differ", word_or_null(load.arms_differ)},
          {"prompt_share", value_or_null(load.prompt_share)},
          {"prefill", prefill_json(load.prefill)}};
}

ordered_json recommendation_json(const std::optional<Recommendation>& use) {
  if (!use) return nullptr;
  ordered_json schedule = nullptr;
  for (const ScheduleRange& range : use->schedule) {
    schedule.push_back({{"first_batch", range.first}, {"last_batch", range.last}, {"gamma", range.gamma}});
  }
  return {{"gamma", use->gamma},          {"schedule", schedule},           {"speedup", finite_json(use->value)},
          {"low", finite_json(use->low)}, {"high", finite_json(use->high)}, {"ties", use->ties}};
}

ordered_json export_json(const Advice& advice, std::string_view engine_version) {
  ordered_json texts = ordered_json::object();
  const SettingsQuestion question = settings_question(advice, engine_version);
  for (const EngineExport& one : engine_exports()) texts[std::string(one.name)] = word_or_null(one.text(question));
  return texts;
}

// ---- tables

}  // namespace

ordered_json to_json(const Advice& advice, std::string_view engine_version) {
  ordered_json loads = ordered_json::array();
  for (const LoadAdvice& load : advice.loads) loads.push_back(load_json(load));
  return {{"schema", "foredraft.advise/1"},
          {"format", advice.format},
          {"engine", word_or_null(advice.engine)},
          {"engine_version", word_or_null(advice.version)},
          {"method", value_or_null(advice.settings.method)},
          {"gamma_observed", value_or_null(advice.gamma_observed)},
          {"verification_steps",
           advice.verification_steps ? ordered_json(std::llround(*advice.verification_steps)) : ordered_json(nullptr)},
          {"tokens_per_iteration",
           {{"observed", mean_json(advice.tokens_observed)}, {"ci95", ci95_json(advice.tokens_observed)}}},
          {"spread", spread_json(advice.spread)},
          {"strata", strata_json(advice.strata)},
          {"marginal", marginal_json(advice)},
          {"model", model_json(advice.fit())},
          {"tokens_per_iteration_by_gamma", by_gamma_json(advice)},
          {"loads", loads},
          {"speedup", advice.loads.size() == 1 ? speedup_json(advice.loads.front()) : ordered_json(nullptr)},
          {"sign_certain", advice.sign_certain},
          {"causes", advice.causes},
          {"cause", word_or_null(advice.cause)},
          {"action", advice.action},
          {"recommendation", recommendation_json(advice.recommendation)},
          {"why_not", word_or_null(advice.why_not)},
          {"evidence", advice.evidence},
          {"warnings", warnings_json(advice.warnings)},
          {"export", export_json(advice, engine_version)}};
}

}  // namespace foredraft::answers
