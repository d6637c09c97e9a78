// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "experiments/reproduce/rounding_box.hpp"
#include "experiments/reproduce/table_account.hpp"

/// The few things that can be said of a printed cell, in words.
namespace foredraft::experiments {

/// A parameter we start from.
[[nodiscard]] CellAnswer input_cell(std::string note = {});

/// Kind exact: follows from printed values by `formula`.
[[nodiscard]] CellAnswer exact_cell(const RoundedValue& ours, std::string formula);

/// Kind predicted; the note ends with the error: "Table 18 at 4.9 iterations; off by +2.4 %".
[[nodiscard]] CellAnswer predicted_cell(double ours, const PrintedNumber& published, const std::string& from);

/// Kind fitted: what the model says of a cell that it was fitted to.
[[nodiscard]] CellAnswer fitted_cell(double ours, std::string what);

/// Kind out_of_reach.
[[nodiscard]] CellAnswer unreachable_cell(std::string why);

/// The same answer, with the printed value's contradiction and its arithmetic.
[[nodiscard]] CellAnswer with_finding(CellAnswer answer, std::string arithmetic);

/// a - b, a * b, a / b with what rounding leaves of them; b > 0 in a quotient.
[[nodiscard]] RoundedValue rounded_difference(const RoundedValue& a, const RoundedValue& b);
[[nodiscard]] RoundedValue rounded_product(const RoundedValue& a, const RoundedValue& b);
[[nodiscard]] RoundedValue rounded_quotient(const RoundedValue& a, const RoundedValue& b);

/// Whether the rounding of a computed value and a printed one have no value in common.
[[nodiscard]] bool contradicts(const RoundedValue& computed, const PrintedNumber& published);

}  // namespace foredraft::experiments
