// SPDX-License-Identifier: Apache-2.0
#include "experiments/advise/advice_json.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "experiments/advise/advice.hpp"
#include "experiments/advise/engine_settings.hpp"
#include "experiments/results/manifest.hpp"
#include "experiments/text/digest.hpp"
#include "experiments/text/json_values.hpp"

namespace foredraft::experiments {
namespace {

using nlohmann::ordered_json;

ordered_json mean_json(const std::optional<Estimate>& estimate) {
  return estimate ? finite_json(estimate->mean) : ordered_json(nullptr);
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
           {{"a", fit->model->chain.a},
            {"b", fit->model->chain.b},
            {"spread", fit->model->spread},
            {"rho", fit->model->rho}}},
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

std::string_view factor_word(analytic::ChainFactor factor) {
  using analytic::ChainFactor;
  switch (factor) {
    case ChainFactor::verification:
      return "verification";
    case ChainFactor::drafting:
      return "drafting";
    case ChainFactor::engine_overhead:
      return "engine_overhead";
    case ChainFactor::plain_overhead:
      return "plain_overhead";
    case ChainFactor::iteration_cost:
      break;
  }
  return "iteration_cost";
}

ordered_json speedup_json(const LoadAdvice& load) {
  if (!load.chain) return nullptr;
  return {{"measured", load.chain->speedup.mean}, {"ci95", interval_json(normal_interval(load.chain->speedup))}};
}

ordered_json explanation_json(const LoadAdvice& load) {
  ordered_json factors = ordered_json::array();
  if (!load.chain) return factors;
  for (const analytic::ChainLink& link : load.chain->links) {
    factors.push_back({{"factor", factor_word(link.factor)},
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
  return std::binary_search(load.gammas.begin(), load.gammas.end(), at.gamma) ? "logged" : "predicted";
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
          {"decode_ms_ci95", interval_json(normal_interval(prefill->decode_ms))},
          {"prompt_token_ms", prefill->per_prompt_token_ms.mean},
          {"prompt_token_ms_ci95", interval_json(normal_interval(prefill->per_prompt_token_ms))}};
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
                    {"ci95", interval_json(normal_interval(one.tokens))}});
  }
  return rows;
}

ordered_json load_json(const LoadAdvice& load) {
  ordered_json json{{"batch", value_or_null(load.requests)},
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
                    {"best_gamma", nullptr},
                    {"arms_differ", word_or_null(load.arms_differ)},
                    {"prompt_share", value_or_null(load.prompt_share)},
                    {"prefill", prefill_json(load.prefill)}};
  if (load.best) json["best_gamma"] = {{"gamma", load.best->best.gamma}, {"ties", load.best->ties}};
  return json;
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

}  // namespace

ordered_json to_json(const Advice& advice, std::string_view engine_version) {
  ordered_json loads = ordered_json::array();
  for (const LoadAdvice& load : advice.loads) loads.push_back(load_json(load));
  ordered_json warnings = ordered_json::array();
  for (const logs::LogWarning& warning : advice.warnings) {
    warnings.push_back({{"code", warning.code},
                        {"line", warning.line > 0 ? ordered_json(warning.line) : ordered_json(nullptr)},
                        {"message", warning.message}});
  }
  ordered_json tokens{{"observed", mean_json(advice.tokens_observed)}, {"ci95", nullptr}};
  if (advice.tokens_observed) tokens["ci95"] = interval_json(normal_interval(*advice.tokens_observed));
  return {{"schema", "foredraft.advise/1"},
          {"format", advice.format},
          {"engine", word_or_null(advice.engine)},
          {"engine_version", word_or_null(advice.version)},
          {"method", value_or_null(advice.settings.method)},
          {"gamma_observed", value_or_null(advice.gamma_observed)},
          {"verification_steps",
           advice.verification_steps ? ordered_json(std::llround(*advice.verification_steps)) : ordered_json(nullptr)},
          {"tokens_per_iteration", tokens},
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
          {"warnings", warnings},
          {"export", export_json(advice, engine_version)}};
}

namespace {

std::optional<double> as_real(const nlohmann::ordered_json& value) {
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

/// One end of an interval, which is null where it is not known.
std::optional<double> as_end(const nlohmann::ordered_json& interval, std::size_t end) {
  return interval.is_array() ? as_real(interval.at(end)) : std::nullopt;
}

std::string_view yes_or_no(bool yes) { return yes ? "yes" : "no"; }

std::string acceptance_length_csv(const nlohmann::ordered_json& advice) {
  DataText data({"gamma", "tokens_per_iteration", "low", "high", "source", "extrapolated"});
  for (const auto& at : advice.at("tokens_per_iteration_by_gamma")) {
    data.row().cell(as_real(at.at("gamma"))).cell(as_real(at.at("value")));
    data.cell(as_real(at.at("low"))).cell(as_real(at.at("high")));
    data.cell(at.at("source").get<std::string>()).cell(yes_or_no(at.at("extrapolated").get<bool>()));
  }
  return data.csv();
}

std::string marginal_csv(const nlohmann::ordered_json& advice) {
  DataText data({"position", "marginal", "low", "high"});
  double position = 0.0;
  for (const auto& at : advice.at("marginal")) {
    data.row().cell(++position).cell(as_real(at.at("value")));
    data.cell(as_end(at.at("ci95"), 0)).cell(as_end(at.at("ci95"), 1));
  }
  return data.csv();
}

std::string strata_csv(const Advice& advice) {
  DataText data({"dimension", "name", "observations", "verification_steps", "tokens_per_iteration",
                 "tokens_per_iteration_standard_error"});
  for (const StratumTokens& one : advice.strata) {
    data.row().cell(one.dimension).cell(one.name).cell(static_cast<double>(one.observations)).cell(one.steps);
    data.cell(std::optional(one.tokens));
  }
  return data.csv();
}

/// The factors between the promised speedup, first of each load, and the measured one, last of it.
std::string speedup_chain_csv(const Advice& advice, const nlohmann::ordered_json& loads) {
  DataText data({"load", "batch", "gamma", "factor", "value", "standard_error", "share"});
  for (std::size_t i = 0; i < advice.loads.size(); ++i) {
    const LoadAdvice& load = advice.loads[i];
    if (!load.chain) continue;
    const auto begin_row = [&](std::string_view factor) {
      data.row().cell(load.name).cell(load.requests).cell(as_real(loads.at(i).at("gamma"))).cell(factor);
    };
    begin_row("promised");
    data.cell(load.chain->promised).cell(load.tokens->standard_error).cell(std::optional<double>{});
    for (const auto& link : loads.at(i).at("explanation")) {
      begin_row(link.at("factor").get<std::string>());
      data.cell(as_real(link.at("value"))).cell(as_real(link.at("standard_error"))).cell(as_real(link.at("share")));
    }
    begin_row("measured");
    data.cell(std::optional(load.chain->speedup)).cell(std::optional<double>{});
  }
  return data.csv();
}

std::string speedup_by_load_csv(const Advice& advice, const nlohmann::ordered_json& loads) {
  DataText data({"load", "batch", "gamma", "speedup", "low", "high", "iteration_time", "use"});
  for (std::size_t i = 0; i < advice.loads.size(); ++i) {
    const auto& load = loads.at(i);
    for (const auto& at : load.at("speedup_by_gamma")) {
      const bool best = !load.at("best_gamma").is_null() && load.at("best_gamma").at("gamma") == at.at("gamma") &&
                        as_real(at.at("value")) > 1.0;
      data.row().cell(advice.loads[i].name).cell(as_real(load.at("batch"))).cell(as_real(at.at("gamma")));
      data.cell(as_real(at.at("value"))).cell(as_real(at.at("low"))).cell(as_real(at.at("high")));
      data.cell(at.at("iteration_time").get<std::string>()).cell(yes_or_no(best));
    }
  }
  return data.csv();
}

std::string loads_csv(const Advice& advice, const nlohmann::ordered_json& loads) {
  DataText data({"load", "batch", "request_rate_per_s", "gamma", "tokens_per_iteration",
                 "tokens_per_iteration_standard_error", "iteration_ms", "iteration_ms_standard_error", "plain_ms",
                 "plain_ms_standard_error", "speedup", "speedup_standard_error"});
  for (std::size_t i = 0; i < advice.loads.size(); ++i) {
    const LoadAdvice& load = advice.loads[i];
    data.row().cell(load.name).cell(load.requests).cell(load.load.request_rate_per_s);
    data.cell(as_real(loads.at(i).at("gamma"))).cell(load.tokens).cell(load.iteration_ms).cell(load.plain_ms);
    data.cell(load.chain ? std::optional(load.chain->speedup) : std::nullopt);
  }
  return data.csv();
}

}  // namespace

ResultFolder::Kind advice_kind(const AdviceQuestion& question) {
  nlohmann::ordered_json content{{"logs", nlohmann::ordered_json::array()}, {"plain", nlohmann::ordered_json::array()}};
  for (const logs::ObservedLog& log : question.logs) content["logs"].push_back(log.sha256);
  for (const logs::ObservedLog& log : question.plain) content["plain"].push_back(log.sha256);
  return {.schema = "foredraft.advice/1", .content = std::move(content)};
}

void write_advice(ResultFolder& folder, const Advice& advice, std::string_view settings,
                  std::string_view engine_version) {
  const nlohmann::ordered_json json = to_json(advice, engine_version);
  const auto& loads = json.at("loads");
  folder.write("advice.json", document_text(json));
  folder.write("advice.txt", to_text(advice, settings));
  folder.write("loads.csv", loads_csv(advice, loads));
  const bool compared = std::any_of(advice.loads.begin(), advice.loads.end(),
                                    [](const LoadAdvice& load) { return load.chain.has_value(); });
  const bool by_gamma = std::any_of(advice.loads.begin(), advice.loads.end(),
                                    [](const LoadAdvice& load) { return !load.by_gamma.empty(); });
  if (!advice.strata.empty()) folder.write("strata.csv", strata_csv(advice));
  if (!json.at("marginal").empty()) folder.write("marginal.csv", marginal_csv(json));
  if (!advice.by_gamma.empty()) folder.write("acceptance-length.csv", acceptance_length_csv(json));
  if (compared) folder.write("speedup-chain.csv", speedup_chain_csv(advice, loads));
  if (by_gamma) folder.write("speedup-by-load.csv", speedup_by_load_csv(advice, loads));
}

}  // namespace foredraft::experiments
