// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/published.hpp"
#include "experiments/reproduce/registry.hpp"
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

// ---- Numbers of the papers' own tables, against which their running text is held.

/// The number in the row whose `label_column` says `label`. Throws std::logic_error where there is none.
[[nodiscard]] RoundedValue printed_cell(std::string_view table, std::string_view label_column, std::string_view label,
                                        std::string_view column);

/// Every printed number of some columns in the rows that `chosen` picks.
[[nodiscard]] std::vector<RoundedValue> printed_cells(
    std::string_view table, const std::vector<std::string>& columns,
    const std::function<bool(const PublishedTable&, std::size_t)>& chosen);

/// The ends of a range; at least one value.
[[nodiscard]] double least(std::span<const double> values);
[[nodiscard]] double greatest(std::span<const double> values);

/// Follows from the papers' own tables, and contradicts the claim.
[[nodiscard]] CellAnswer contradicted(const RoundedValue& ours, std::string arithmetic);

}  // namespace foredraft::experiments
