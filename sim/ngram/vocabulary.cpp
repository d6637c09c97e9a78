// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/check.hpp"
#include "sim/ngram/model.hpp"

namespace foredraft::ngram {
namespace {

constexpr std::string_view newline = "\n";

/// By value and not by <cctype>, which asks the locale.
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
void tokenise(std::string_view text, Visit visit) {
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
    tokenise(text, [&](std::string_view word) { ++counts[word]; });
  }
  std::vector<std::pair<std::string_view, std::int64_t>> ranked(counts.begin(), counts.end());
  // string_view compares bytes as unsigned: a total order that no locale and no hash table changes.
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
  tokenise(text, [&](std::string_view word) {
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
