// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "experiments/reproduce/specdec/specdec_experiments.hpp"
#include "experiments/reproduce/table_account.hpp"

namespace foredraft::experiments {
namespace {

/// Every number but the labels is a score of trained models.
ExperimentResult scores(const std::string& id, std::string_view table_name, const std::string& caption) {
  TableAccount account(id, table_name, {"model"});
  for (const std::string& column : account.published().columns()) {
    if (column != "model") account.out_of_reach(column, "needs the trained models");
  }
  return account.finish(caption);
}

/// A table without numbers to reproduce.
ExperimentResult listed(const std::string& id, const std::string& what, const std::string& why) {
  ExperimentResult result;
  result.text = fmt::format("{}: listed. {}\n", what, why);
  result.rows.push_back({.experiment = id,
                         .row = "whole table",
                         .column = "all",
                         .published = std::nullopt,
                         .ours = std::nullopt,
                         .ours_interval = std::nullopt,
                         .kind = Kind::out_of_reach,
                         .verdict = Verdict::shown,
                         .note = why});
  return result;
}

constexpr const char* training_settings = "Settings of training runs, which a model of decoding does not have.";
constexpr const char* example_translation =
    "An example translation, which needs the trained models; a replay of accepted and rejected positions with its "
    "numbers of iterations, 4 and 3, is among the tests.";

}  // namespace

ExperimentResult emnlp_table7(const ExperimentSettings& /*settings*/) {
  return listed("emnlp-table7", "training settings [Xia2023, Table 7]", training_settings);
}

ExperimentResult emnlp_table12(const ExperimentSettings& /*settings*/) {
  return scores("emnlp-table12", "emnlp_table12", "Further scores of EN-DE [Xia2023, Table 12]: listed.");
}

ExperimentResult emnlp_table13(const ExperimentSettings& /*settings*/) {
  return scores("emnlp-table13", "emnlp_table13",
                "Further scores of four directions [Xia2023, Table 13]: listed; both EN-DE cells of the baselines are "
                "lost in our source.");
}

ExperimentResult emnlp_table16(const ExperimentSettings& /*settings*/) {
  return listed("emnlp-table16", "example translations [Xia2023, Table 16]", example_translation);
}

ExperimentResult iclr_table7(const ExperimentSettings& /*settings*/) {
  return listed("iclr-table7", "training settings [Xia2022, Table 7]", training_settings);
}

ExperimentResult iclr_table9(const ExperimentSettings& /*settings*/) {
  return scores("iclr-table9", "iclr_table9", "Repetitions in the output [Xia2022, Table 9]: listed.");
}

ExperimentResult iclr_table12(const ExperimentSettings& /*settings*/) {
  return scores("iclr-table12", "iclr_table12", "Further scores of EN-DE [Xia2022, Table 12]: listed.");
}

ExperimentResult iclr_table13(const ExperimentSettings& /*settings*/) {
  return scores("iclr-table13", "iclr_table13", "Further scores of four directions [Xia2022, Table 13]: listed.");
}

ExperimentResult iclr_table19(const ExperimentSettings& /*settings*/) {
  return listed("iclr-table19", "example translations [Xia2022, Table 19]", example_translation);
}

}  // namespace foredraft::experiments
