// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/draft_length/best_gamma.hpp"
#include "analytic/tokens/acceptance.hpp"
#include "experiments/reproduce/iid_answers.hpp"
#include "experiments/reproduce/table_account.hpp"

/// What stands beside the numbers that the papers claim in running text, most of it from their own tables.
namespace foredraft::experiments {
namespace {

using Values = std::span<const double>;

double least(Values values) { return *std::min_element(values.begin(), values.end()); }

double greatest(Values values) { return *std::max_element(values.begin(), values.end()); }

double mean_of(Values values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

analytic::BestGamma best_iid(double alpha, double c) {
  return analytic::best_gamma(
      {.alpha = alpha, .c = c, .convention = Convention::bonus, .drafting = Drafting::autoregressive});
}

/// A speedup printed with its alpha and c, and with gamma or at the best one.
double lenient_speedup(const Cells& at) {
  if (!at.table().is_number(at.row(), "gamma")) return best_iid(at("alpha"), at("c")).speedup;
  return iid_speedup(at("alpha"), at.count("gamma"), at("c"));
}

/// A summary of some columns in some rows of a table.
Formula of_cells(const char* table, const std::vector<RowFilter>& rows, const std::vector<std::string>& columns,
                 double (*summary)(Values)) {
  return [=](const Cells& at) {
    std::vector<double> cells;
    for (const RowFilter& row : rows) {
      for (const std::string& column : columns) cells.push_back(at(table, row, column));
    }
    return summary(cells);
  };
}

/// Speeds of the four directions in [Xia2023, Table 1], six layers on both sides.
Formula of_directions(const char* model, const char* k, double (*summary)(Values)) {
  return of_cells("emnlp_table1", {{{"baseline_block", "6+6*"}, {"model", model}, {"k", k}}},
                  {"en_de_speed_x", "de_en_speed_x", "en_ro_speed_x", "ro_en_speed_x"}, summary);
}

/// Four models of [Xia2023, Table 6].
Formula of_fast_models(double (*summary)(Values)) {
  return of_cells("emnlp_table6",
                  {{{"model", "GLAT*"}}, {{"model", "DAT*"}}, {{"model", "CMLM*"}}, {{"model", "RewriteNAT*"}}},
                  {"relative_bleu"}, summary);
}

/// A column of the energy table: SpecDec over greedy decoding.
double energy_ratio(const Cells& at, std::string_view column) {
  return at("emnlp_table15", {{"model", "SpecDec (k = 25)"}}, column) /
         at("emnlp_table15", {{"model", "AR (greedy)"}}, column);
}

double encoder_share(const Cells& at) {
  const auto ms = [&](const char* module) { return at("iclr_table18", {{"module", module}}, "latency_ms"); };
  return 100.0 * (ms("AT Encoder") + ms("NAT Encoder")) / ms("Total");
}

double mlp_speedup(const Cells& at) {
  const RowFilter row{{"condition", "batch 1; k=4; 3 heads"}};
  return at("survey_numbers", row, "baseline") / at("survey_numbers", row, "value");
}

/// By the beginning of a claim.
const std::map<std::string_view, Formula>& claim_formulas() {
  static const std::map<std::string_view, Formula> formulas{
      {"bigram drafter", [](const Cells& at) { return best_iid(at("alpha"), 0.0).speedup; }},
      {"T5-small", lenient_speedup},
      {"Transformer-base accelerated", of_directions("SpecDec", "25", mean_of)},
      {"earlier draft-then-verify accelerates by at least", of_directions("Blockwise Decoding", "10", least)},
      {"earlier draft-then-verify accelerates by at most", of_directions("Blockwise Decoding", "10", greatest)},
      {"fast non-autoregressive models", of_fast_models(mean_of)},
      {"drafted tokens accepted", [](const Cells&) { return 0.0; }},
      {"average power", [](const Cells& at) { return 100.0 * (energy_ratio(at, "avg_power_w") - 1.0); }},
      {"energy", [](const Cells& at) { return 100.0 * energy_ratio(at, "total_energy_wh"); }},
      {"carbon", [](const Cells& at) { return 1.0 / energy_ratio(at, "carbon_g_co2eq"); }},
      {"GPU hours", [](const Cells& at) { return 100.0 * (1.0 - energy_ratio(at, "gpu_hours_h")); }},
      {"share of the time", encoder_share},
      {"multi-stage MLP", mlp_speedup}};
  return formulas;
}

/// Of 16 cells, too many for the corners of their box: an end of a range is as far as an end of a rounding.
RoundedValue profiling_range(const std::string& claim) {
  const PublishedTable& table = published_table("wagner_table1");
  const bool exact = claim.find("exact") != std::string::npos;
  std::vector<double> values, lows, highs;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const PrintedNumber gain =
        table.number(row, exact ? "profiling_gain_exact_percent" : "profiling_gain_sigmoid_percent");
    values.push_back(gain.value);
    lows.push_back(gain.rounding.low);
    highs.push_back(gain.rounding.high);
  }
  const auto end = claim.ends_with("least") ? least : greatest;
  return {.value = end(values), .rounding = {end(lows), end(highs)}};
}

/// The computed words of findings.
Fillings claim_words(const PublishedTable& claims, std::size_t row) {
  const std::string& claim = claims.text(row, "claim");
  if (claim.starts_with("T5-small sampled")) {
    return {claims.text(row, "alpha"), claims.text(row, "c"),
            best_iid(claims.value(row, "alpha"), claims.value(row, "c")).gamma.value()};
  }
  if (claim.starts_with("fast")) {
    return {evaluate(of_fast_models(least)).value, evaluate(of_fast_models(greatest)).value};
  }
  if (claim.starts_with("drafted tokens")) return {published_table("emnlp_table2").value(0, "tok")};
  if (claim.starts_with("GPU hours")) {
    return {1.0 / evaluate([](const Cells& at) { return energy_ratio(at, "gpu_hours_h"); }).value};
  }
  return {};
}

double t5_range(double (*end)(Values)) {
  const PublishedTable& table = published_table("leviathan_table4");
  std::vector<double> speedups;
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (table.text(row, "approx_model") != "T5-small") continue;
    speedups.push_back(iid_speedup(table.value(row, "alpha"), table.count(row, "gamma"), table.value(row, "c")));
  }
  return end(speedups);
}

void claims(TableAccount& account, const ExperimentSettings& settings) {
  const PublishedTable& table = account.published();
  // The papers draw the speedups of their sentences; ours are simulated.
  const std::string sentences = run_experiment("emnlp-figure6", settings).rows.back().note;
  account.compute("value", [&](std::size_t row) {
    const std::string& claim = table.text(row, "claim");
    if (claim.starts_with("most sentences")) return Computed::of_words({sentences});
    if (claim.starts_with("T5-XXL")) return Computed(t5_range(claim.ends_with("least") ? least : greatest));
    if (claim.starts_with("profiling time")) return Computed(profiling_range(claim));
    for (const auto& [begin, formula] : claim_formulas()) {
      if (claim.starts_with(begin)) return Computed(evaluate(formula, table, row), claim_words(table, row));
    }
    const double tokens = table.value(row, "value");
    const std::int64_t heads = table.count(row, "gamma");
    return Computed(tokens, {analytic::alpha_from_acceptance_length(tokens, heads, Convention::bonus), heads});
  });

  const auto wrong = [&](const char* claim, const char* why, const Fillings& words = {}) {
    account.remark(account.row_name(table.row_where({{"claim", claim}})), account.declared().text(why, words));
  };
  wrong("memory shrinks", "memory", {analytic::memory_access_factor(iid_tokens(0.8, 5))});
  wrong("c and alpha in one letter", "one_letter", {iid_speedup(0.8, 5, 0.05), iid_speedup(0.05, 5, 0.8)});
  wrong("a draft is accepted only where q is at most p", "ratio_of_two");
  wrong("Medusa trained alike for all Vicuna sizes on ShareGPT", "medusa");
}

}  // namespace

ExperimentCodes claims_table() { return {{"claims", claims}}; }

}  // namespace foredraft::experiments
