// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

/// Names as people type them: searched, and told from another name. Letters and digits of ASCII count, their case and
/// what separates them do not.
namespace foredraft {

/// The letters and digits of `text` in lower case: "qwen38b" of "Qwen3-8B".
[[nodiscard]] std::string plain_name(std::string_view text);

/// With the letters of ASCII in lower case.
[[nodiscard]] std::string lower_case(std::string_view text);

/// Whether plain_name() of `text` contains that of `word`.
[[nodiscard]] bool mentions(std::string_view text, std::string_view word);

/// The candidate that `word` was meant to be, if it is mistyped: only separators or case differ, or the order of words
/// ("8b-llama" and "llama-8b"), or at most a third of the letters. A name of other numbers is another name: h101 is no
/// h100. (h1000 and h010 may be: a key that stuck, digits that were swapped.) So is one of another first letter and the
/// same numbers: b100. Empty if there is none, or if it is `word` itself.
[[nodiscard]] std::string_view nearest(std::string_view word, std::span<const std::string> candidates);

/// The first of the candidates that lack the fewest letters of `words`: where a search found nothing. Empty if all lack
/// more than a third.
[[nodiscard]] std::string_view closest_match(std::span<const std::string> words,
                                             std::span<const std::string> candidates);

}  // namespace foredraft
