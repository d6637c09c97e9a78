// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/published.hpp"

/// Numbers of the papers' own tables, against which their running text is held.
namespace foredraft::experiments {

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
