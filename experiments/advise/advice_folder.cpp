// SPDX-License-Identifier: Apache-2.0
#include "experiments/advise/advice_folder.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "experiments/results/manifest.hpp"
#include "experiments/text/data_text.hpp"

namespace foredraft::experiments {
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
