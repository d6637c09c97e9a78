// SPDX-License-Identifier: Apache-2.0
#include "core/names.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace foredraft {
namespace {

bool is_plain_digit(char c) { return c >= '0' && c <= '9'; }

char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// 0 for what separates.
char plain_letter(char c) {
  c = lower_letter(c);
  return is_plain_digit(c) || (c >= 'a' && c <= 'z') ? c : '\0';
}

/// Where the distance is measured from: all of `b`, or the part of it that is nearest.
enum class Within { all, a_part };

/// Edit distance from a to b: insert, delete, replace, swap neighbors.
std::size_t edit_distance(std::string_view a, std::string_view b, Within within) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  if (within == Within::all) std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last = std::exchange(last, row);
  }
  return within == Within::all ? last[b.size()] : *std::min_element(last.begin(), last.end());
}

/// Runs of the characters that belong.
std::vector<std::string> runs(std::string_view text, auto belongs) {
  std::vector<std::string> found;
  bool inside = false;
  for (const char c : text) {
    if (belongs(c) && !inside) found.emplace_back();
    inside = belongs(c);
    if (inside) found.back() += plain_letter(c) == '\0' ? c : plain_letter(c);
  }
  return found;
}

std::vector<std::string> numbers_of(std::string_view name) { return runs(name, is_plain_digit); }

std::vector<std::string> sorted_words(std::string_view name) {
  std::vector<std::string> words = runs(name, [](char c) { return c == '.' || plain_letter(c) != '\0'; });
  std::sort(words.begin(), words.end());
  return words;
}

/// Equal, or typed with digits swapped, or one of a long number typed twice or left out where it is repeated.
bool same_number(const std::string& typed, const std::string& number) {
  constexpr std::size_t long_number = 3;
  const auto unrepeated = [](std::string digits) {
    digits.erase(std::unique(digits.begin(), digits.end()), digits.end());
    return digits;
  };
  if (typed.size() == number.size()) return std::is_permutation(typed.begin(), typed.end(), number.begin());
  return std::max(typed.size(), number.size()) >= long_number && unrepeated(typed) == unrepeated(number);
}

bool names_another(std::string_view word, const std::vector<std::string>& numbers, std::string_view candidate) {
  if (!std::ranges::equal(numbers, numbers_of(candidate), same_number)) return true;
  return !numbers.empty() && word.size() == candidate.size() && word.front() != candidate.front() &&
         !std::is_permutation(word.begin(), word.end(), candidate.begin());
}

std::size_t tolerated(std::size_t letters) { return std::max<std::size_t>(1, letters / 3); }

}  // namespace

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), lower_letter);
  return lower;
}

std::string plain_name(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (const char letter = plain_letter(c); letter != '\0') plain += letter;
  }
  return plain;
}

bool mentions(std::string_view text, std::string_view word) {
  return plain_name(text).find(plain_name(word)) != std::string::npos;
}

std::string_view nearest(std::string_view word, std::span<const std::string> candidates) {
  const std::string plain = plain_name(word);
  const std::vector<std::string> numbers = numbers_of(word);
  const std::vector<std::string> words = sorted_words(word);
  std::string_view best;
  std::size_t best_distance = tolerated(word.size()) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate == word) continue;
    if (!plain.empty() && (plain == plain_name(candidate) || words == sorted_words(candidate))) return candidate;
    // Each extra letter is an edit; this avoids the quadratic distance for long keys.
    const std::size_t shorter = std::min(word.size(), candidate.size());
    if (std::max(word.size(), candidate.size()) - shorter >= best_distance) continue;
    if (names_another(word, numbers, candidate)) continue;
    const std::size_t distance = edit_distance(word, candidate, Within::all);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string_view closest_match(std::span<const std::string> words, std::span<const std::string> candidates) {
  std::vector<std::string> plain;
  std::size_t letters = 0;
  for (const std::string& word : words) letters += plain.emplace_back(plain_name(word)).size();
  std::string_view best;
  std::size_t best_distance = tolerated(letters) + 1;
  for (const std::string& candidate : candidates) {
    const std::string name = plain_name(candidate);
    std::size_t distance = 0;
    for (const std::string& word : plain) distance += edit_distance(word, name, Within::a_part);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace foredraft
