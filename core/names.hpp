// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

/// Search and comparison of typed names.
namespace foredraft {

/// The ASCII letters and digits of `text` in lower case: "qwen38b" of "Qwen3-8B".
[[nodiscard]] std::string plain_name(std::string_view text);

/// `text` with its ASCII letters in lower case.
[[nodiscard]] std::string lower_case(std::string_view text);

/// True if plain_name() of `text` contains plain_name() of `word`.
[[nodiscard]] bool mentions(std::string_view text, std::string_view word);

/// The candidate that a mistyped `word` probably means: separators, case or the order of words differ ("8b-llama" and
/// "llama-8b"), or at most a third of the letters. Other numbers mean another name (h101 is not h100), except for a
/// repeated key (h1000) and swapped digits (h010). With the same numbers, another first letter means another name
/// (b100). A candidate that equals `word` is skipped. Empty if there is none.
[[nodiscard]] std::string_view nearest(std::string_view word, std::span<const std::string> candidates);

/// A suggestion after a search without result: the candidate whose parts are the fewest edits away from `words`, the
/// first of several. Empty if every candidate takes more edits than a third of the letters of `words` (at least 1).
[[nodiscard]] std::string_view closest_match(std::span<const std::string> words,
                                             std::span<const std::string> candidates);

}  // namespace foredraft
