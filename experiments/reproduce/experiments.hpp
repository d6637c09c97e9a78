// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "experiments/reproduce/experiment.hpp"

/// One function per experiment, each in the file of its name. The list that users see is in registry.cpp.
namespace foredraft::experiments {

[[nodiscard]] ExperimentResult leviathan_table1(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult leviathan_table2(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult leviathan_table3(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult leviathan_table4(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult leviathan_table5(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult leviathan_figure2(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult leviathan_figure3(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult leviathan_figure4(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult leviathan_figure5(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult ngram_iid_check(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult rule_lossiness(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult wagner_table1(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult wagner_table2(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult wagner_table3(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult wagner_table4(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult wagner_table5(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult wagner_figure3(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult wagner_figure4(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult wagner_figure5(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult survey(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult claims(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult survey_batch_context(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult survey_medusa_tree(const ExperimentSettings& settings);

}  // namespace foredraft::experiments
