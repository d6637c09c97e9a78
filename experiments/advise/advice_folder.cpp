// SPDX-License-Identifier: Apache-2.0
#include "experiments/advise/advice_folder.hpp"

#include <cmath>

#include "experiments/results/manifest.hpp"
#include "experiments/text/data_text.hpp"

namespace foredraft::experiments {
namespace {

std::optional<double> finite(double value) { return std::isfinite(value) ? std::optional(value) : std::nullopt; }

std::optional<double> as_number(const std::optional<std::int64_t>& count) {
  return count ? std::optional(static_cast<double>(*count)) : std::nullopt;
}

std::string by_gamma_csv(const Advice& advice) {
  DataText data({"gamma", "tokens_per_iteration", "low", "high", "extrapolated"});
  for (const analytic::TokensAtGamma& at : advice.by_gamma) {
    data.row().cell(static_cast<double>(at.gamma)).cell(finite(at.value)).cell(at.low).cell(at.high);
    data.cell(at.extrapolated ? "yes" : "no");
  }
  return data.csv();
}

std::string chain_csv(const nlohmann::ordered_json& advice) {
  DataText data({"batch", "factor", "value", "standard_error", "share"});
  const auto real = [](const nlohmann::ordered_json& value) {
    return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
  };
  for (const auto& load : advice.at("loads")) {
    for (const auto& link : load.at("explanation")) {
      data.row().cell(real(load.at("batch"))).cell(link.at("factor").get<std::string>());
      data.cell(real(link.at("value"))).cell(real(link.at("standard_error"))).cell(real(link.at("share")));
    }
  }
  return data.csv();
}

std::string loads_csv(const Advice& advice) {
  DataText data({"batch", "request_rate_per_s", "gamma", "tokens_per_iteration", "tokens_per_iteration_standard_error",
                 "iteration_ms", "iteration_ms_standard_error", "plain_ms", "plain_ms_standard_error", "speedup",
                 "speedup_standard_error"});
  for (const LoadAdvice& load : advice.loads) {
    data.row().cell(load.requests).cell(load.load.request_rate_per_s).cell(as_number(load.gamma));
    data.cell(load.tokens).cell(load.iteration_ms).cell(load.plain_ms);
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
  folder.write("advice.json", document_text(json));
  folder.write("advice.txt", to_text(advice, settings));
  folder.write("by_gamma.csv", by_gamma_csv(advice));
  folder.write("chain.csv", chain_csv(json));
  folder.write("loads.csv", loads_csv(advice));
}

}  // namespace foredraft::experiments
