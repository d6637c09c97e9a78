// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "foredraft/tree.hpp"

/// Files of `foredraft tree`. Blank lines and text after # are skipped. Each function throws InputError `file:line:
/// ...`, which lists all problems (of verification times the first one).
namespace foredraft::inputs {

/// One row per head: the marginal accuracies of rank 1, 2, ..., separated by commas or spaces.
[[nodiscard]] std::vector<std::vector<double>> parse_accuracies(std::string_view text, const std::string& file);

/// The drafted nodes of a tree: one path of child ranks from 0 per line ("0,1"), or Medusa's list [[0], [0, 1], ...],
/// optionally with a name (name = [...]). The tree must be connected.
[[nodiscard]] TokenTree parse_tree(std::string_view text, const std::string& file);

/// Rows `nodes,time`: the target's time for this number of positions, in any unit. Rows are ascending and start with 1
/// position. Returns the time for every number of positions up to the last row, linear between rows.
[[nodiscard]] std::vector<double> parse_verification_times(std::string_view text, const std::string& file);

}  // namespace foredraft::inputs
