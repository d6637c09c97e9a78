// SPDX-License-Identifier: Apache-2.0
#include "experiments/predict/observed_prediction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/numbers.hpp"
#include "core/readable.hpp"
#include "experiments/text/table.hpp"

namespace foredraft::experiments {
namespace {

using analytic::AcceptanceFit;
using analytic::DrafterClass;
using analytic::TokensAtGamma;
using Json = nlohmann::ordered_json;

std::string_view class_words(DrafterClass drafter) {
  switch (drafter) {
    case DrafterClass::text:
      return "text";
    case DrafterClass::feature_head:
      return "feature_head";
    case DrafterClass::parallel_heads:
      return "parallel_heads";
    case DrafterClass::unknown:
      return "unknown";
  }
  throw std::logic_error("unknown class of drafters");
}

std::vector<TokensAtGamma> table_of(const AcceptanceFit& fit, std::optional<std::int64_t> asked) {
  constexpr std::int64_t last = 12;
  std::vector<TokensAtGamma> tokens;
  for (std::int64_t gamma = 1; gamma <= last; ++gamma) tokens.push_back(analytic::tokens_at(fit, gamma));
  if (asked.value_or(0) > last) tokens.push_back(analytic::tokens_at(fit, *asked));
  return tokens;
}

double steps_of(const AcceptanceFit& fit) {
  double steps = 0.0;
  for (const analytic::PooledCounts& counts : fit.counts) steps += counts.steps;
  return steps;
}

std::vector<std::int64_t> gammas_of(const AcceptanceFit& fit) {
  std::vector<std::int64_t> gammas;
  for (const analytic::PooledCounts& counts : fit.counts) gammas.push_back(counts.gamma);
  return gammas;
}

std::string remark_of(const TokensAtGamma& tokens) {
  if (tokens.source == TokensAtGamma::Source::observed) return "logged";
  return tokens.extrapolated ? "extrapolated" : "";
}

/// What speaks against the fit.
std::string doubts_of(const AcceptanceFit& fit) {
  std::string text;
  if (fit.interval_is_lower_bound) {
    text += "one window or request: steps depend on each other, so the intervals are too narrow\n";
  }
  if (fit.text_changed)
    text += "no single text explains all of the draft lengths: they differ in more than their length\n";
  if (fit.collapsed_position) {
    text += fmt::format("acceptance collapses at position {}: a fault or a limit of the drafter\n",
                        *fit.collapsed_position);
  }
  return text;
}

}  // namespace

std::string observed_text(const FittedAcceptance& observed, std::optional<std::int64_t> asked) {
  using enum Table::Align;
  const AcceptanceFit& fit = observed.fit;
  Table table{.caption = {},
              .columns = {{"gamma", right}, {"tokens per iteration", right}, {"95 % interval", left}, {"", left}},
              .rows = {}};
  for (const TokensAtGamma& tokens : table_of(fit, asked)) {
    table.rows.push_back({fmt::format("{}", tokens.gamma), decimal_text(tokens.value, 4),
                          fmt::format("{} to {}", decimal_text(tokens.low, 3), decimal_text(tokens.high, 3)),
                          remark_of(tokens)});
  }
  constexpr std::size_t name_width = 40;
  return fmt::format("acceptance of {}: {} verification steps at gamma {}\n\n",
                     readable(observed.file.path, name_width), number_text(steps_of(fit)),
                     fmt::join(gammas_of(fit), ", ")) +
         to_text(table) + doubts_of(fit);
}

Json observed_json(const FittedAcceptance& observed, std::optional<std::int64_t> asked) {
  const AcceptanceFit& fit = observed.fit;
  const Runs runs = fitted_runs(fit);
  Json json{{"file", observed.file.path},
            {"sha256", observed.file.sha256},
            {"gamma_observed", gammas_of(fit)},
            {"verification_steps", steps_of(fit)},
            {"drafter_class", class_words(fit.drafter)}};
  json["model"] = {{"name", "runs"},
                   {"a", runs.a},
                   {"b", runs.b},
                   {"spread", runs.spread},
                   {"rho", runs.rho},
                   {"chi_squared", fit.chi_squared},
                   {"degrees_of_freedom", fit.degrees_of_freedom},
                   {"interval_is_lower_bound", fit.interval_is_lower_bound},
                   {"text_changed", fit.text_changed},
                   {"collapsed_position", fit.collapsed_position ? Json(*fit.collapsed_position) : Json(nullptr)}};
  json["tokens_per_iteration_by_gamma"] = Json::array();
  for (const TokensAtGamma& tokens : table_of(fit, asked)) {
    json["tokens_per_iteration_by_gamma"].push_back({{"gamma", tokens.gamma},
                                                     {"value", tokens.value},
                                                     {"low", tokens.low},
                                                     {"high", tokens.high},
                                                     {"extrapolated", tokens.extrapolated}});
  }
  return json;
}

}  // namespace foredraft::experiments
