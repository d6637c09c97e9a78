// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "experiments/reproduce/claims/paper_claims.hpp"
#include "experiments/reproduce/claims/printed_cells.hpp"
#include "experiments/reproduce/specdec/specdec_experiments.hpp"

namespace foredraft::experiments {
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

}  // namespace foredraft::experiments
