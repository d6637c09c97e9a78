// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "logs/arms.hpp"

/// The speeds in a line of text.
namespace foredraft::logs {

/// A unit of speeds: tokens per second, or the time per token.
inline constexpr std::string_view spoken_unit =
    R"((?:(?:output |generated |decode )?t(?:o?ks?|oken|okens)?(?:/|[- ]per[- ])s(?:ec|econd)?(?:/(?:user|req\w*|stream|seq\w*|slot|client))?|tps|ms(?:/| per )tok(?:en)?)\b)";

/// A speed in a line (of a range the mean that follows it, else its middle, of repeated runs their mean), and how it
/// continues the one before it.
struct SpokenPlace {
  std::size_t begin, end;
  double value;            ///< tokens/s
  bool changes = false;    ///< "from 38 to 61 tok/s"
  bool compared = false;   ///< "38 vs 61 tok/s"
  bool replaces = false;   ///< compared as "61 instead of 38 tok/s": the words behind it are of the first
  bool is_time = false;    ///< stated as a time per token
  bool is_bare = false;    ///< has no unit: a speed only if words name its arm
  bool is_middle = false;  ///< of a range without a mean, wider than repeated runs are
  bool is_one_of = false;  ///< the last of a list of several things, "31 / 40 / 52 tok/s"
};

/// The speeds of a line in their order: numbers with a unit, and those that stand beside them in a change, a
/// comparison or a list of arms, "plain 20, MTP 40 tok/s". `arms`: those of the line.
[[nodiscard]] std::vector<SpokenPlace> spoken_places(std::string_view text, std::span<const ArmPhrase> arms);

/// The only draft length that words state: 4 of "n_max=4".
[[nodiscard]] std::optional<double> stated_length(std::string_view text);

/// The only gain that words state: 1.6 of "a 1.6x boost", 1.35 of "35 % faster".
[[nodiscard]] std::optional<double> gain_in_words(std::string_view text);

/// The rate of "85.2 % acceptance", "accept 0.71" or "accept 72-85 %" (its lower end) as a fraction.
[[nodiscard]] std::optional<double> spoken_rate(std::string_view text);

/// An acceptance length in words, >= 1: of a range its middle.
struct SpokenLength {
  std::size_t begin, end;  ///< where its number or range stands
  double value;
  bool is_exact;  ///< no range
};

/// The length of "mean acceptance length ~3.3", "acc len 2.1-2.5" or "2.7 tokens per step"; empty for lines that
/// compare several.
[[nodiscard]] std::optional<SpokenLength> spoken_length(std::string_view text);

/// Whether a speed at a load is that of all requests together.
[[nodiscard]] bool is_of_all(std::string_view text);

}  // namespace foredraft::logs
