// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

/// Search and comparison of typed names. Only ASCII letters and digits count; case and separators do not.
namespace foredraft {

/// The letters and digits of `text` in lower case: "qwen38b" of "Qwen3-8B".
[[nodiscard]] std::string plain_name(std::string_view text);

/// With the letters of ASCII in lower case.
[[nodiscard]] std::string lower_case(std::string_view text);

/// True if plain_name() of `text` contains plain_name() of `word`.
[[nodiscard]] bool mentions(std::string_view text, std::string_view word);

/// The candidate that a mistyped `word` probably means: separators, case or the order of words differ ("8b-llama" and
/// "llama-8b"), or at most a third of the letters. Other numbers mean another name (h101 is not h100), except for a
/// repeated key (h1000) and swapped digits (h010). With the same numbers, another first letter means another name
/// (b100). Empty if there is none, or if it equals `word`.
[[nodiscard]] std::string_view nearest(std::string_view word, std::span<const std::string> candidates);

/// After a search without result: the first of the candidates that lack the fewest letters of `words`. Empty if all
/// lack more than a third.
[[nodiscard]] std::string_view closest_match(std::span<const std::string> words,
                                             std::span<const std::string> candidates);

}  // namespace foredraft
