// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "experiments/reproduce/registry.hpp"

/// The tables and figures of the two papers on SpecDec, [Xia2023] (emnlp) and [Xia2022] (iclr).
namespace foredraft::experiments {

[[nodiscard]] ExperimentResult emnlp_table1(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult emnlp_table2(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult emnlp_table3(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult emnlp_table4(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult emnlp_table5(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult emnlp_table6(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult emnlp_table7(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult emnlp_table8(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult emnlp_table9(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult emnlp_table10(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult emnlp_table11(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult emnlp_table12(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult emnlp_table13(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult emnlp_table14(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult emnlp_table15(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult emnlp_table16(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult emnlp_figure5(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult emnlp_figure6(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult iclr_table1(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult iclr_table2(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult iclr_table3(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult iclr_table4(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult iclr_table5(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult iclr_table6(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult iclr_table7(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult iclr_table8(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult iclr_table9(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult iclr_table10(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult iclr_table11(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult iclr_table12(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult iclr_table13(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult iclr_table14(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult iclr_table15(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult iclr_table16(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult iclr_table17(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult iclr_table18(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult iclr_table19(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult iclr_figure2(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult iclr_figure4(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult iclr_figure5(const ExperimentSettings& settings);

}  // namespace foredraft::experiments
