// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>

#include "experiments/reproduce/experiment.hpp"
#include "experiments/reproduce/published.hpp"
#include "experiments/reproduce/table_account.hpp"

/// What stands beside the claims that the papers make in running text, a file for each paper. The claims themselves
/// are in published/claims.csv.
namespace foredraft::experiments {

struct PaperClaims {
  /// By claim: our figure beside the number in `row` of the claims.
  std::map<std::string, std::function<CellAnswer(const PublishedTable& claims, std::size_t row)>, std::less<>> answers;
  /// By claim: what is wrong with one that prints no number.
  std::map<std::string, std::string, std::less<>> wordings;
};

/// [Leviathan2023] and slides on it.
[[nodiscard]] PaperClaims leviathan_claims();

/// [Xia2022] and [Xia2023]; runs the speedups of sentences of emnlp-figure6.
[[nodiscard]] PaperClaims specdec_claims(const ExperimentSettings& settings);

/// [Wagner2024] and the survey article.
[[nodiscard]] PaperClaims wagner_and_survey_claims();

}  // namespace foredraft::experiments
