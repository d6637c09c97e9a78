// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "analytic/observed/expected_loss.hpp"
#include "answers/advice.hpp"
#include "answers/engine_settings.hpp"
#include "core/json_values.hpp"

namespace foredraft::answers {
namespace {

using nlohmann::ordered_json;

ordered_json mean_json(const std::optional<Estimate>& estimate) {
  return estimate ? finite_json(estimate->mean) : ordered_json(nullptr);
}

/// Null if the value or its error is unknown.
ordered_json ci95_json(const std::optional<Estimate>& estimate) {
  const bool known = estimate && std::isfinite(estimate->standard_error);
  return known ? interval_json(normal_interval(*estimate)) : ordered_json(nullptr);
}

ordered_json ci95_json(const analytic::ClusteredEstimate& estimate) {
  return is_assumed(estimate) ? ordered_json(nullptr) : interval_json(analytic::interval_of(estimate));
}

/// Of an acceptance length, which is at least 1.
ordered_json length_ci95_json(const std::optional<Estimate>& length) {
  ordered_json interval = ci95_json(length);
  if (interval.is_array() && interval.at(0) < 1.0) interval.at(0) = 1.0;
  return interval;
}

ordered_json tokens_json(const std::optional<Estimate>& tokens) {
  if (!tokens) return nullptr;
  return {{"observed", finite_json(tokens->mean)}, {"ci95", length_ci95_json(tokens)}};
}

ordered_json speedup_json(const std::optional<analytic::ClusteredEstimate>& speedup) {
  if (!speedup) return nullptr;
  return {{"measured", speedup->value}, {"ci95", ci95_json(*speedup)}};
}

ordered_json value_json(const RunEstimates& run, std::string_view metric) {
  const analytic::ClusteredEstimate* found = run.estimate(metric);
  return found == nullptr ? ordered_json(nullptr) : ordered_json(found->value);
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
  const ordered_json by_gamma = list_json(fit->misfit, [](const analytic::GammaMisfit& one) -> ordered_json {
    return {{"gamma", one.gamma},
            {"observed", one.observed},
            {"fitted", one.fitted},
            {"deviation", finite_json(one.deviation)}};
  });
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
  if (advice.curve() == nullptr) return ordered_json::array();
  return list_json(advice.curve()->by_gamma, [](const analytic::TokensAtGamma& at) -> ordered_json {
    return {{"gamma", at.gamma},
            {"value", finite_json(at.value)},
            {"low", finite_json(at.low < 1.0 ? 1.0 : at.low)},
            {"high", finite_json(at.high)},
            {"extrapolated", at.extrapolated},
            {"source", source_word(at.source)}};
  });
}

std::string_view factor_word(analytic::ChainFactor factor) {
  constexpr std::array<std::string_view, 5> words{"verification", "drafting", "engine_overhead", "plain_overhead",
                                                  "iteration_cost"};
  return words.at(static_cast<std::size_t>(factor));
}

ordered_json explanation_json(const LoadAdvice& load) {
  if (!load.chain) return ordered_json::array();
  return list_json(load.chain->links, [](const analytic::ChainLink& link) -> ordered_json {
    return {{"factor", factor_word(link.factor)},
            {"value", link.value},
            {"standard_error", finite_json(link.standard_error)},
            {"share", finite_json(link.share)}};
  });
}

std::string_view time_word(SpeedupRow::Time time) {
  constexpr std::array<std::string_view, 5> words{"logged", "interpolated", "predicted", "extrapolated", "bounded"};
  return words.at(static_cast<std::size_t>(time));
}

ordered_json speedups_json(const LoadAdvice& load, const Advice& advice) {
  return list_json(load.by_gamma, [&](const SpeedupRow& at) -> ordered_json {
    return {{"gamma", at.gamma},
            {"drafter", word_or_null(advice.curves[at.curve].name)},
            {"value", finite_json(at.value)},
            {"low", finite_json(at.low)},
            {"high", finite_json(at.high)},
            {"iteration_time", time_word(at.time)},
            {"p_best", finite_json(at.p_best)},
            {"expected_loss", finite_json(at.expected_loss)}};
  });
}

ordered_json runs_json(const LoadAdvice& load, const Advice& advice) {
  ordered_json rows = ordered_json::array();
  for (const LoggedRun& logged : load.logged) {
    const RunEstimates& run = advice.runs[logged.run];
    ordered_json relative = nullptr;
    if (logged.relative) {
      relative = {{"to", advice.runs[load.logged.front().run].name},
                  {"value", logged.relative->value},
                  {"ci95", ci95_json(*logged.relative)}};
    }
    rows.push_back({{"name", run.name},
                    {"gamma", value_or_null(run.run.setting.gamma)},
                    {"drafter", word_or_null(run.run.setting.drafter)},
                    {"tree", run.run.setting.tree ? ordered_json(to_string(*run.run.setting.tree)) : nullptr},
                    {"adaptive", run.run.setting.adaptive},
                    {"verification_steps", run.run.steps > 0.0 ? ordered_json(std::llround(run.run.steps)) : nullptr},
                    {"tokens_per_iteration", mean_json(run.run.tokens)},
                    {"tokens_per_iteration_ci95", length_ci95_json(run.run.tokens)},
                    {"tpot_ms", value_json(run, "tpot_ms")},
                    {"iteration_ms", value_json(run, "iteration_ms")},
                    {"output_tokens_per_s", run.throughput ? ordered_json(run.throughput->value) : nullptr},
                    {"speedup", speedup_json(logged.speedup)},
                    {"relative", relative}});
    if (advice.gpu_price) {
      const RunEstimates* plain = load.plain ? &advice.runs[*load.plain] : nullptr;
      rows.back()["cost_per_million_output_tokens"] = value_or_null(cost_of(*advice.gpu_price, &run));
      rows.back()["plain_cost_per_million_output_tokens"] = value_or_null(cost_of(*advice.gpu_price, plain));
    }
  }
  return rows;
}

/// The row of the choice at this load, else (no speculation) the row with the minimum expected loss.
ordered_json best_json(const LoadAdvice& load) {
  const SpeedupRow* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const SpeedupRow& row : load.by_gamma) {
    if (!std::isfinite(row.expected_loss)) continue;
    if (row.chosen || best == nullptr || (!best->chosen && row.expected_loss < best->expected_loss)) best = &row;
    least = std::min(least, row.expected_loss);
  }
  if (best == nullptr) return nullptr;
  std::vector<std::int64_t> ties;
  for (const SpeedupRow& row : load.by_gamma) {
    const bool tie = &row == best || (row.curve == best->curve && row.expected_loss <= least + analytic::equal_loss);
    if (tie) ties.push_back(row.gamma);
  }
  return {{"gamma", best->gamma}, {"ties", ties}};
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
  return list_json(strata, [](const StratumTokens& one) -> ordered_json {
    return {{"dimension", one.dimension},
            {"name", one.name},
            {"observations", one.observations},
            {"verification_steps", std::llround(one.steps)},
            {"tokens_per_iteration", one.tokens.mean},
            {"ci95", length_ci95_json(one.tokens)}};
  });
}

ordered_json load_json(const LoadAdvice& load, const Advice& advice) {
  return {{"batch", value_or_null(load.requests)},
          {"context", value_or_null(load.context_tokens)},
          {"category", value_or_null(load.load.category)},
          {"request_rate_per_s", value_or_null(load.load.request_rate_per_s)},
          {"offered_requests", value_or_null(load.load.offered_requests)},
          {"gamma", value_or_null(load.gamma)},
          {"tokens_per_iteration", mean_json(load.tokens)},
          {"iteration_ms", mean_json(load.iteration_ms)},
          {"plain_ms", mean_json(load.plain_ms)},
          {"runs", runs_json(load, advice)},
          {"speedup", speedup_json(load.speedup())},
          {"speedup_of", load.by_capacity ? "output_tokens_per_s" : "tpot_ms"},
          {"explanation", explanation_json(load)},
          {"speedup_by_gamma", speedups_json(load, advice)},
          {"best_gamma", best_json(load)},
          {"arms_differ", word_or_null(load.arms_differ)},
          {"prompt_share", value_or_null(load.prompt_share)},
          {"prefill", prefill_json(load.prefill)}};
}

ordered_json recommendation_json(const std::optional<Recommendation>& use) {
  if (!use) return nullptr;
  ordered_json schedule = nullptr;
  for (const GammaRange& range : use->schedule) {
    schedule.push_back({{"first_batch", range.from_batch}, {"last_batch", range.to_batch}, {"gamma", range.gamma}});
  }
  return {{"gamma", use->gamma},
          {"adaptive", use->adaptive},
          {"drafter", word_or_null(use->drafter)},
          {"schedule", schedule},
          {"speedup", finite_json(use->value)},
          {"low", finite_json(use->low)},
          {"high", finite_json(use->high)},
          {"p_best", finite_json(use->p_best)},
          {"expected_loss", finite_json(use->expected_loss)},
          {"ties", use->ties}};
}

ordered_json export_json(const Advice& advice, std::string_view engine_version) {
  ordered_json texts = ordered_json::object();
  const SettingsQuestion question = settings_question(advice, engine_version);
  for (const EngineExport& one : engine_exports()) texts[std::string(one.name)] = word_or_null(one.text(question));
  return texts;
}

}  // namespace

ordered_json to_json(const Advice& advice, std::string_view engine_version) {
  return {{"schema", "foredraft.advise/1"},
          {"format", advice.format},
          {"engine", word_or_null(advice.engine)},
          {"engine_version", word_or_null(advice.version)},
          {"method", value_or_null(advice.settings.method)},
          {"gamma_observed", value_or_null(advice.gamma_observed)},
          {"verification_steps",
           advice.verification_steps ? ordered_json(std::llround(*advice.verification_steps)) : ordered_json(nullptr)},
          {"tokens_per_iteration", tokens_json(advice.tokens_observed)},
          {"spread", spread_json(advice.spread)},
          {"strata", strata_json(advice.strata)},
          {"marginal", marginal_json(advice)},
          {"model", model_json(advice.fit())},
          {"tokens_per_iteration_by_gamma", by_gamma_json(advice)},
          {"loads", list_json(advice.loads, [&](const LoadAdvice& load) { return load_json(load, advice); })},
          {"speedup", advice.loads.size() == 1 ? speedup_json(advice.loads.front().speedup()) : ordered_json(nullptr)},
          {"sign_certain", advice.sign_certain},
          {"causes", advice.causes},
          {"cause", word_or_null(advice.cause)},
          {"action", advice.action},
          {"recommendation", recommendation_json(advice.recommendation)},
          {"why_not", word_or_null(advice.why_not)},
          {"next", word_or_null(advice.next)},
          {"evidence", advice.evidence},
          {"warnings", warnings_json(advice.warnings)},
          {"export", export_json(advice, engine_version)}};
}

}  // namespace foredraft::answers
