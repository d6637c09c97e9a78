// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/claims/claims.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/draft_length/best_gamma.hpp"
#include "analytic/tokens/acceptance.hpp"
#include "analytic/tokens/token_count.hpp"
#include "experiments/reproduce/registry.hpp"
#include "experiments/reproduce/specdec/specdec_experiments.hpp"

namespace foredraft::experiments {

RoundedValue printed_cell(std::string_view table, std::string_view label_column, std::string_view label,
                          std::string_view column) {
  const PublishedTable published = published_table(table);
  for (std::size_t row = 0; row < published.size(); ++row) {
    if (published.text(row, label_column) == label) return rounded(published.number(row, column));
  }
  throw std::logic_error(fmt::format("{}: no row {}", table, label));
}

std::vector<RoundedValue> printed_cells(std::string_view table, const std::vector<std::string>& columns,
                                        const std::function<bool(const PublishedTable&, std::size_t)>& chosen) {
  const PublishedTable published = published_table(table);
  std::vector<RoundedValue> cells;
  for (std::size_t row = 0; row < published.size(); ++row) {
    for (const std::string& column : columns) {
      if (chosen(published, row) && published.is_number(row, column))
        cells.push_back(rounded(published.number(row, column)));
    }
  }
  return cells;
}

double least(std::span<const double> values) { return *std::min_element(values.begin(), values.end()); }

double greatest(std::span<const double> values) { return *std::max_element(values.begin(), values.end()); }

CellAnswer contradicted(const RoundedValue& ours, std::string arithmetic) {
  return with_finding(exact_cell(ours, {}), std::move(arithmetic));
}

ExperimentResult claims(const ExperimentSettings& settings) {
  TableAccount account("claims", "claims", {"paper", "claim"});
  const PublishedTable& table = account.published();
  for (const char* column : {"alpha", "gamma", "c"}) account.inputs(column);
  const std::array papers{leviathan_claims(), specdec_claims(settings), wagner_and_survey_claims()};
  for (std::size_t row = 0; row < table.size(); ++row) {
    const std::string& claim = table.text(row, "claim");
    bool answered = false;
    for (const PaperClaims& paper : papers) {
      if (const auto answer = paper.answers.find(claim); answer != paper.answers.end()) {
        account.cell(row, "value", answer->second(table, row));
        answered = true;
      }
      if (const auto wording = paper.wordings.find(claim); wording != paper.wordings.end()) {
        account.remark(account.row_name(row), wording->second);
        answered = true;
      }
    }
    if (!answered) throw std::logic_error(fmt::format("claims: nothing beside {}", claim));
  }
  return account.finish("Numbers that the papers claim in running text, and what follows from their own tables.");
}

namespace {

double iid_speedup(double alpha, std::int64_t gamma, double c) {
  return analytic::speedup(
      analytic::tokens_per_iteration({.alpha = alpha, .gamma = gamma, .convention = Convention::bonus}), gamma, c,
      Drafting::autoregressive);
}

analytic::BestGamma best_iid(double alpha, double c) {
  return analytic::best_gamma(
      {.alpha = alpha, .c = c, .convention = Convention::bonus, .drafting = Drafting::autoregressive});
}

CellAnswer t5_range(bool upper) {
  const PublishedTable table = published_table("leviathan_table4");
  std::vector<double> speedups;
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (table.text(row, "approx_model") != "T5-small") continue;
    speedups.push_back(iid_speedup(table.number(row, "alpha").value,
                                   static_cast<std::int64_t>(table.number(row, "gamma").value),
                                   table.number(row, "c").value));
  }
  return {.kind = Kind::predicted,
          .ours = upper ? greatest(speedups) : least(speedups),
          .interval = {},
          .note = "T5-small, from the printed alpha, gamma and c of Table 4; nothing fitted",
          .finding = {}};
}

/// A speedup printed with its alpha and c, and with gamma or at the best one.
CellAnswer lenient_speedup(const PublishedTable& claims, std::size_t row) {
  const RoundedValue alpha = rounded(claims.number(row, "alpha"));
  const RoundedValue c = rounded(claims.number(row, "c"));
  if (claims.is_number(row, "gamma")) {
    const auto gamma = static_cast<std::int64_t>(claims.number(row, "gamma").value);
    return exact_cell(propagate_rounding(
                          {alpha, c}, [gamma](std::span<const double> in) { return iid_speedup(in[0], gamma, in[1]); }),
                      "i.i.d. acceptance at the printed alpha, gamma and c");
  }
  const RoundedValue ours =
      propagate_rounding({alpha, c}, [](std::span<const double> in) { return best_iid(in[0], in[1]).speedup; });
  const PrintedNumber value = claims.number(row, "value");
  if (intersects(ours.rounding, value.rounding)) return exact_cell(ours, "i.i.d. acceptance at the best gamma");
  return contradicted(ours, fmt::format("alpha {} and c {} allow {:.2f}x i.i.d. at the best gamma ({}), {:.2f}x at the "
                                        "ends of their rounding: needs dependent acceptances or a smaller c",
                                        claims.text(row, "alpha"), claims.text(row, "c"), ours.value,
                                        best_iid(alpha.value, c.value).gamma.value(), ours.rounding.high));
}

CellAnswer free_drafter(const PublishedTable& claims, std::size_t row) {
  return exact_cell(propagate_rounding({rounded(claims.number(row, "alpha"))},
                                       [](std::span<const double> in) { return best_iid(in[0], 0.0).speedup; }),
                    "1 / (1 - alpha) at c = 0");
}

}  // namespace

PaperClaims leviathan_claims() {
  PaperClaims claims{
      .answers = {{"T5-XXL accelerated by at least", [](const auto&, std::size_t) { return t5_range(false); }},
                  {"T5-XXL accelerated by at most", [](const auto&, std::size_t) { return t5_range(true); }},
                  {"bigram drafter of no cost (En-De)", free_drafter}},
      .wordings = {
          {"memory shrinks",
           fmt::format("accesses do, to {:.2f} times at alpha 0.8 and gamma 5; the memory in use grows by the drafter",
                       analytic::memory_access_factor(analytic::tokens_per_iteration(
                           {.alpha = 0.8, .gamma = 5, .convention = Convention::bonus})))},
          {"c and alpha in one letter",
           fmt::format("the cost ratio and the acceptance are both set as C: alpha 0.8 with c 0.05 gives {:.2f}x at "
                       "gamma 5, the two swapped {:.2f}x",
                       iid_speedup(0.8, 5, 0.05), iid_speedup(0.05, 5, 0.8))}}};
  for (const char* how : {"sampled", "argmax"}) {
    for (const char* lenience : {"1", "0.5", "0.3", "0.1"}) {
      claims.answers.emplace(fmt::format("T5-small {} with lenience {}", how, lenience), lenient_speedup);
    }
  }
  return claims;
}

namespace {

double mean_of(std::span<const double> values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

CellAnswer specdec_mean() {
  const std::vector<std::string> speeds{"en_de_speed_x", "de_en_speed_x", "en_ro_speed_x", "ro_en_speed_x"};
  return exact_cell(propagate_rounding(printed_cells("emnlp_table1", speeds,
                                                     [](const PublishedTable& table, std::size_t row) {
                                                       return table.text(row, "baseline_block").starts_with("6+6") &&
                                                              table.text(row, "model") == "SpecDec" &&
                                                              table.text(row, "k") == "25";
                                                     }),
                                       mean_of),
                    "mean of four directions in Table 1, k = 25");
}

CellAnswer blockwise_range(double (*end)(std::span<const double>)) {
  const std::vector<std::string> speeds{"en_de_speed_x", "de_en_speed_x", "en_ro_speed_x", "ro_en_speed_x"};
  return exact_cell(propagate_rounding(printed_cells("emnlp_table1", speeds,
                                                     [](const PublishedTable& table, std::size_t row) {
                                                       return table.text(row, "baseline_block").starts_with("6+6") &&
                                                              table.text(row, "model") == "Blockwise Decoding" &&
                                                              table.text(row, "k") == "10";
                                                     }),
                                       end),
                    "Blockwise Decoding in Table 1, k = 10");
}

CellAnswer agreement_of_nar() {
  const std::vector<RoundedValue> scores =
      printed_cells("emnlp_table6", {"relative_bleu"}, [](const PublishedTable& table, std::size_t row) {
        const std::string& model = table.text(row, "model");
        return model.starts_with("GLAT") || model.starts_with("DAT") || model.starts_with("CMLM") ||
               model.starts_with("RewriteNAT");
      });
  const RoundedValue low = propagate_rounding(scores, least);
  const RoundedValue high = propagate_rounding(scores, greatest);
  return contradicted(propagate_rounding(scores, mean_of),
                      fmt::format("Table 6 prints {:.2f} to {:.2f} for the four models, mean {:.1f}", low.value,
                                  high.value, propagate_rounding(scores, mean_of).value));
}

CellAnswer accepted_in_plain_decoding() {
  const RoundedValue tokens = printed_cell("emnlp_table2", "model", "Transformer-base (b = 5)", "tok");
  return contradicted(
      {.value = 0.0, .rounding = {0.0, 0.0}},
      fmt::format("plain decoding drafts nothing, so 0 drafted tokens are accepted: Tok. {:.2f} counts the "
                  "corrected token too, tokens = accepted + 1",
                  tokens.value));
}

/// A column of the energy table: SpecDec over greedy decoding.
RoundedValue energy_ratio(std::string_view column) {
  return rounded_quotient(printed_cell("emnlp_table15", "model", "SpecDec (k = 25)", column),
                          printed_cell("emnlp_table15", "model", "AR (greedy)", column));
}

RoundedValue mapped(const RoundedValue& value, double (*f)(double)) {
  return propagate_rounding({value}, [f](std::span<const double> in) { return f(in[0]); });
}

CellAnswer hours_shorter() {
  const RoundedValue ratio = energy_ratio("gpu_hours_h");
  const RoundedValue saved = mapped(ratio, [](double r) { return 100.0 * (1.0 - r); });
  return contradicted(saved, fmt::format("nothing can be more than 100 % shorter: 0.27 / 0.05 = {:.1f} times, which is "
                                         "{:.1f} % shorter",
                                         1.0 / ratio.value, saved.value));
}

CellAnswer encoder_share() {
  const auto part = [](std::string_view module) {
    return printed_cell("iclr_table18", "module", module, "latency_ms");
  };
  return exact_cell(propagate_rounding({part("AT Encoder"), part("NAT Encoder"), part("Total")},
                                       [](std::span<const double> ms) { return 100.0 * (ms[0] + ms[1]) / ms[2]; }),
                    "(5.65 + 5.73) / 73.46 ms of Table 18");
}

}  // namespace

PaperClaims specdec_claims(const ExperimentSettings& settings) {
  // The papers draw the speedups of their sentences; ours are simulated.
  const auto sentences = [note = "emnlp-figure6: " + emnlp_figure6(settings).rows.back().note] {
    return CellAnswer{.kind = Kind::simulated, .ours = {}, .interval = {}, .note = note, .finding = {}};
  };
  // None of these needs what the claim prints beside its number.
  const auto always = [](auto answer) { return [answer](const PublishedTable&, std::size_t) { return answer(); }; };
  return {
      .answers = {{"Transformer-base accelerated by around", always(specdec_mean)},
                  {"earlier draft-then-verify accelerates by at least", always([] { return blockwise_range(least); })},
                  {"earlier draft-then-verify accelerates by at most",
                   always([] { return blockwise_range(greatest); })},
                  {"most sentences accelerated by at least", always(sentences)},
                  {"most sentences accelerated by at most", always(sentences)},
                  {"fast non-autoregressive models agree with the target around", always(agreement_of_nar)},
                  {"drafted tokens accepted an iteration in plain decoding", always(accepted_in_plain_decoding)},
                  {"average power against greedy decoding higher by", always([] {
                     return exact_cell(mapped(energy_ratio("avg_power_w"), [](double r) { return 100.0 * (r - 1.0); }),
                                       "110 / 86 W of Table 15");
                   })},
                  {"energy against greedy decoding", always([] {
                     return exact_cell(mapped(energy_ratio("total_energy_wh"), [](double r) { return 100.0 * r; }),
                                       "6.05 / 25.54 Wh of Table 15");
                   })},
                  {"carbon against greedy decoding lower by a factor of", always([] {
                     return exact_cell(mapped(energy_ratio("carbon_g_co2eq"), [](double r) { return 1.0 / r; }),
                                       "9.83 / 2.33 g of Table 15");
                   })},
                  {"GPU hours against greedy decoding shorter by", always(hours_shorter)},
                  {"share of the time spent in encoders approximately", always(encoder_share)}},
      .wordings = {}};
}

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
