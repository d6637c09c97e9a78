// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "experiments/reproduce/specdec/specdec_experiments.hpp"
#include "experiments/reproduce/specdec/specdec_models.hpp"
#include "experiments/text/digest.hpp"

namespace foredraft::experiments {

ExperimentResult iclr_figure2(const ExperimentSettings& /*settings*/) {
  const PublishedTable main = published_table("iclr_table1");
  const analytic::BlockLatency profile = specdec_profile();
  DataText data({"group", "system", "bleu", "printed_speedup", "predicted_speedup"});
  for (std::size_t row = 0; row < main.size(); ++row) {
    const bool rerun = main.is_number(row, "speedup_rerun_x");
    if (!rerun && !main.is_number(row, "speedup_reported_x")) continue;
    const PrintedNumber printed = main.number(row, rerun ? "speedup_rerun_x" : "speedup_reported_x");
    std::optional<double> ours;
    const std::string& model = main.text(row, "model");
    const bool theirs = main.text(row, "group") == "Ours";
    if (theirs && main.is_number(row, "iterations")) {
      const double iterations = main.number(row, "iterations").value;
      ours = model.starts_with("NAT") ? specdec_beam_ms() / analytic::drafter_alone_ms(profile, iterations)
                                      : analytic::speedup(profile, iterations, specdec_beam_ms());
    }
    data.row()
        .cell(theirs ? "SpecDec and its parts" : main.text(row, "group"))
        .cell(model)
        .cell(main.number(row, "bleu_en_de").value)
        .cell(printed.value)
        .cell(ours);
  }
  return {
      .text =
          "quality against speed on EN-DE: BLEU as printed [Xia2022, Table 1], speeds as printed and, for SpecDec and "
          "its drafter, from the module profile [Xia2022, Table 18]\n",
      .artifacts = {{"iclr-figure2.csv", data.csv()}},
      .rows = {}};
}

}  // namespace foredraft::experiments
