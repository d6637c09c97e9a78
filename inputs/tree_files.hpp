// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "foredraft/tree.hpp"

/// The files that `foredraft tree` reads. All of them skip blank lines and text after #. Each function throws
/// InputError `file:line: ...` with every problem at once.
namespace foredraft::inputs {

/// One row per head: the marginal accuracies of rank 1, 2, ..., separated by commas or blanks.
[[nodiscard]] std::vector<std::vector<double>> parse_accuracies(std::string_view text, const std::string& file);

/// The drafted nodes of a tree: one path of child ranks from 0 per line ("0,1"), or Medusa's list [[0], [0, 1], ...],
/// optionally with a name (name = [...]). The tree must be connected.
[[nodiscard]] TokenTree parse_tree(std::string_view text, const std::string& file);

/// Rows `nodes,time`: the target's time for this many positions, in any unit; the first row is for 1 position, rows
/// ascend. Returns the time for every number of positions up to the last row's, linear between rows.
[[nodiscard]] std::vector<double> parse_verification_times(std::string_view text, const std::string& file);

}  // namespace foredraft::inputs
