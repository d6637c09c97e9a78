// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

/// The words of enumerations in files and messages.
namespace foredraft::latency {

/// The words of an enumeration, in the order of its values. A class, because g++ 12 exports specialized variable
/// templates from shared libraries.
template <typename Enum>
struct WordsOf {
  static constexpr std::array<std::string_view, 0> list{};
};

template <typename Enum>
concept Worded = std::is_enum_v<Enum> && !WordsOf<Enum>::list.empty();

template <Worded Enum>
[[nodiscard]] constexpr std::string_view to_string(Enum value) {
  return WordsOf<Enum>::list.at(static_cast<std::size_t>(value));
}

/// Nullopt for other words.
template <Worded Enum>
[[nodiscard]] constexpr std::optional<Enum> value_of(std::string_view word) {
  const auto found = std::ranges::find(WordsOf<Enum>::list, word);
  if (found == WordsOf<Enum>::list.end()) return std::nullopt;
  return static_cast<Enum>(found - WordsOf<Enum>::list.begin());
}

// ---- Words with meanings; several words may have the same meaning.

template <typename Meaning>
struct Word {
  std::string_view word;
  Meaning meaning;
};
template <typename Meaning>
Word(std::string_view, Meaning) -> Word<Meaning>;

/// Nullopt for other words.
template <typename Meaning, std::size_t size>
[[nodiscard]] std::optional<Meaning> meaning_of(std::string_view word, const std::array<Word<Meaning>, size>& words) {
  const auto found = std::ranges::find(words, word, &Word<Meaning>::word);
  return found == words.end() ? std::nullopt : std::optional(found->meaning);
}

/// All words, for suggestions.
[[nodiscard]] inline std::vector<std::string> words_in(const auto& words) {
  std::vector<std::string> all;
  for (const auto& entry : words) all.emplace_back(entry.word);
  return all;
}

}  // namespace foredraft::latency
