// SPDX-License-Identifier: Apache-2.0
#include "sim/ngram/model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/check.hpp"

namespace foredraft::ngram {

Window adjacent_window(int order) { return head_window(order, 1); }

Window head_window(int order, int position) {
  check_range("order", order, 1, max_order);
  check_range("position", position, 1, max_heads);
  Window window;
  for (int k = 0; k < order - 1; ++k) window.distances.push_back(position + k);
  return window;
}

Window stage_window(int order, int position) {
  check_range("order", order, 1, max_order - 1);
  Window window = head_window(order, position);
  if (position > 1) window.distances.insert(window.distances.begin(), 1);
  return window;
}

void check_window(const Window& window) {
  check_range("order", window.order(), 1, max_order);
  int nearer = 0;
  for (const int distance : window.distances) {
    if (distance <= nearer) {
      throw DomainError(
          fmt::format("invalid distances={} (must increase from 1 on)", fmt::join(window.distances, " ")));
    }
    nearer = distance;
  }
}

Discounts estimate_discounts(std::span<const std::uint32_t> counts) {
  std::array<double, 5> equal{};  // [i]: number of counts that equal i
  for (const std::uint32_t count : counts) {
    if (count < equal.size()) equal[count] += 1.0;
  }
  constexpr Discounts fixed{{0.5, 1.0, 1.5}};
  const double y = equal[1] / (equal[1] + 2.0 * equal[2]);  // 0/0 leads to NaN, which fails below
  Discounts discounts{};
  for (std::size_t i = 1; i <= discounts.of.size(); ++i) {
    const auto count = static_cast<double>(i);
    const double discount = count - (count + 1.0) * y * equal[i + 1] / equal[i];
    // D_i = i, if count i + 1 never occurs, is not usable either, because it would discount the count entirely.
    if (!(discount > 0.0 && discount < count)) return fixed;
    discounts.of[i - 1] = discount;
  }
  return discounts;
}

namespace {

constexpr std::string_view newline = "\n";

/// By value instead of <cctype>, which depends on the locale.
bool is_word_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte >= 0x80;
}

bool is_blank_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte <= ' ' || byte == 0x7f;
}

/// Calls visit(token text) for each token of `text`.
template <class Visit>
void tokenize(std::string_view text, Visit visit) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at + 1;
    if (is_blank_byte(text[at])) {
      while (end < text.size() && is_blank_byte(text[end])) ++end;
      if (text.substr(at, end - at).find('\n') != std::string_view::npos) visit(newline);
    } else {
      if (is_word_byte(text[at])) {
        while (end < text.size() && is_word_byte(text[end])) ++end;
      }
      visit(text.substr(at, end - at));
    }
    at = end;
  }
}

}  // namespace

struct Vocabulary::Data {
  std::vector<std::string> words;
  std::unordered_map<std::string_view, Token> tokens;  ///< views into `words`
};

Vocabulary Vocabulary::build(std::span<const std::string> texts, std::int64_t limit) {
  check_range("limit", limit, 2, std::int64_t{1} << 30);
  std::unordered_map<std::string_view, std::int64_t> counts;
  for (const std::string& text : texts) {
    tokenize(text, [&](std::string_view word) { ++counts[word]; });
  }
  std::vector<std::pair<std::string_view, std::int64_t>> ranked(counts.begin(), counts.end());
  // string_view compares bytes as unsigned: a total order that does not depend on locale or hash table.
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (std::cmp_greater(ranked.size(), limit - 2)) ranked.resize(static_cast<std::size_t>(limit - 2));

  auto data = std::make_shared<Data>();
  data->words = {"<unk>", "<end>"};
  for (const auto& [word, count] : ranked) data->words.emplace_back(word);
  for (std::size_t i = 2; i < data->words.size(); ++i) data->tokens.emplace(data->words[i], static_cast<Token>(i));
  return Vocabulary(std::move(data));
}

std::vector<Token> Vocabulary::encode(std::string_view text) const {
  std::vector<Token> tokens;
  tokenize(text, [&](std::string_view word) {
    const auto found = data_->tokens.find(word);
    tokens.push_back(found == data_->tokens.end() ? unknown_word : found->second);
  });
  return tokens;
}

std::string_view Vocabulary::word(Token token) const {
  check_range("token", token, 0, size() - 1);
  return data_->words[static_cast<std::size_t>(token)];
}

std::int64_t Vocabulary::size() const { return static_cast<std::int64_t>(data_->words.size()); }

}  // namespace foredraft::ngram
