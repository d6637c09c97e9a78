// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <vector>

#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/specdec/specdec_experiments.hpp"
#include "experiments/reproduce/specdec/specdec_models.hpp"

namespace foredraft::experiments {

ExperimentResult iclr_table18(const ExperimentSettings& /*settings*/) {
  TableAccount account("iclr-table18", "iclr_table18", {"module"});
  const PublishedTable& table = account.published();
  const std::size_t modules = table.size() - 1;
  const std::size_t total = modules;
  const auto sum_of = [&](std::string_view column) {
    std::vector<RoundedValue> parts;
    for (std::size_t row = 0; row < modules; ++row) parts.push_back(rounded(table.number(row, column)));
    return propagate_rounding(parts, [](std::span<const double> x) {
      double sum = 0.0;
      for (const double part : x) sum += part;
      return sum;
    });
  };
  account.inputs("latency_ms");
  account.cell(total, "latency_ms", exact_cell(sum_of("latency_ms"), "sum of the modules"));
  account.cell(total, "percent", exact_cell(sum_of("percent"), "sum of the printed percentages"));
  const PrintedNumber total_ms = table.number(total, "latency_ms");
  for (std::size_t row = 0; row < modules; ++row) {
    const PrintedNumber latency = table.number(row, "latency_ms");
    const PrintedNumber printed = table.number(row, "percent");
    RoundedValue ours = rounded_quotient(rounded(latency), rounded(total_ms));
    ours = {.value = 100.0 * ours.value, .rounding = {100.0 * ours.rounding.low, 100.0 * ours.rounding.high}};
    CellAnswer answer = exact_cell(ours, "latency over total");
    if (contradicts(ours, printed)) {
      double others = 0.0;
      for (std::size_t other = 0; other < modules; ++other) {
        if (other != row) others += table.number(other, "percent").value;
      }
      answer = with_finding(answer,
                            fmt::format("{} / {} = {:.2f} %, not {}; it was made to complete 100: 100 - {:.2f} = "
                                        "{:.2f}",
                                        latency.text, total_ms.text, ours.value, printed.text, others, 100.0 - others));
    }
    account.cell(row, "percent", answer);
  }
  ExperimentResult result =
      account.finish("Where the time of a translation goes [Xia2022, Table 18]: percentages from latencies, sums.");
  const analytic::BlockLatency profile = specdec_profile();
  const double sentence = total_ms.value;
  const double encoders = profile.target_encoder_ms + profile.drafter_encoder_ms;
  const double gain = analytic::parallel_encoders_gain_ms(profile);
  result.text += fmt::format(
      " a pass of the drafter {:.2f} ms, of the verifier {:.2f} ms (3.1 iterations); encoders {:.1f} % of the time; "
      "both "
      "at once would save {:.2f} ms, {:.1f} %; no acceptance gives more than {:.1f}x\n",
      profile.draft_ms, profile.verify_ms, 100.0 * encoders / sentence, gain, 100.0 * gain / sentence,
      analytic::speedup_limit(profile, specdec_beam_ms()));
  return result;
}

}  // namespace foredraft::experiments
