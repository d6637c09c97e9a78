// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <string>
#include <vector>

#include "analytic/tokens/acceptance.hpp"
#include "experiments/reproduce/claims/paper_claims.hpp"
#include "experiments/reproduce/claims/printed_cells.hpp"

namespace foredraft::experiments {
namespace {

CellAnswer profiling_range(const std::string& variant, double (*end)(std::span<const double>)) {
  std::vector<RoundedValue> gains = printed_cells("wagner_table1", {fmt::format("profiling_gain_{}_percent", variant)},
                                                  [](const PublishedTable&, std::size_t) { return true; });
  std::vector<double> low;
  std::vector<double> high;
  std::vector<double> value;
  for (const RoundedValue& gain : gains) {
    low.push_back(gain.rounding.low);
    high.push_back(gain.rounding.high);
    value.push_back(gain.value);
  }
  return exact_cell({.value = end(value), .rounding = {end(low), end(high)}}, "16 rows of Table 1");
}

CellAnswer mlp_speedup() {
  const auto latency = [](std::string_view column) {
    return printed_cell("survey_numbers", "condition", "batch 1; k=4; 3 heads", column);
  };
  return exact_cell(rounded_quotient(latency("baseline"), latency("value")), "10.54 / 5.50 ms a token");
}

CellAnswer mlp_tokens(const PublishedTable& claims, std::size_t row) {
  const PrintedNumber tokens = claims.number(row, "value");
  const auto heads = static_cast<std::int64_t>(claims.number(row, "gamma").value);
  const double alpha = analytic::alpha_from_acceptance_length(tokens.value, heads, Convention::bonus);
  return fitted_cell(tokens.value,
                     fmt::format("acceptance {:.3f} of each of {} heads, solved from this cell", alpha, heads));
}

}  // namespace

PaperClaims wagner_and_survey_claims() {
  PaperClaims claims{
      .answers = {{"multi-stage MLP accelerates Llama-7B Chat by almost",
                   [](const auto&, std::size_t) { return mlp_speedup(); }},
                  {"tokens a step of 3 heads after stage 1", mlp_tokens},
                  {"tokens a step of 3 heads after stage 2", mlp_tokens}},
      .wordings = {
          {"a draft is accepted only where q is at most p",
           "elsewhere it is accepted with probability p / q: of p = (0.6, 0.4), q = (0.8, 0.2) the claim accepts 0.2, "
           "the rule min(0.6, 0.8) + min(0.4, 0.2) = 0.8"},
          {"Medusa trained alike for all Vicuna sizes on ShareGPT",
           "the heads of Vicuna-33B are trained on text that the model writes itself [Cai2024, Sec. 3.2], those of 7B "
           "and 13B are not"}}};
  for (const std::string variant : {"exact", "sigmoid"}) {
    const std::string claim = fmt::format("profiling time of the {} variant better by at ", variant);
    claims.answers.emplace(claim + "least",
                           [variant](const auto&, std::size_t) { return profiling_range(variant, least); });
    claims.answers.emplace(claim + "most",
                           [variant](const auto&, std::size_t) { return profiling_range(variant, greatest); });
  }
  return claims;
}

}  // namespace foredraft::experiments
