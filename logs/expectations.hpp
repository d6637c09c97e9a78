// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "logs/spoken_numbers.hpp"

/// Speeds that nobody measured: "Expected with MTP: ~40 tok/s", "the advertised 60 tok/s", "goal: 50 tok/s".
namespace foredraft::logs {

/// Whether a heading, or a label with a colon at its end, is above numbers that were not measured: "## Expected
/// results", "Our goals:".
[[nodiscard]] bool is_above_expected(std::string_view caption);

/// Whether the name of a row or column, or the caption of a table, says that its values were not measured: "MTP
/// (expected)", "claimed tok/s".
[[nodiscard]] bool names_expected(std::string_view name);

/// Of each speed of a line, in their order, whether nobody measured it; a semicolon ends no sentence: "expected: MTP
/// 40; plain 20 tok/s".
[[nodiscard]] std::vector<bool> expected_in(std::string_view text, std::span<const SpokenPlace> places);

}  // namespace foredraft::logs
