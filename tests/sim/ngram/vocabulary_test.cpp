// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "foredraft/errors.hpp"
#include "sim/ngram/model.hpp"

namespace foredraft::ngram {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  const std::vector<std::string> texts{std::string(text)};
  const Vocabulary vocabulary = Vocabulary::build(texts, 1000);
  std::vector<std::string> words;
  for (const Token token : vocabulary.encode(text)) words.emplace_back(vocabulary.word(token));
  return words;
}

}  // namespace

TEST_CASE("letters and digits form words, every other visible character is a word") {
  CHECK(words_of("is_same<T, 42>::value;") ==
        std::vector<std::string>{"is", "_", "same", "<", "T", ",", "42", ">", ":", ":", "value", ";"});
  CHECK(words_of("x2y don't") == std::vector<std::string>{"x2y", "don", "'", "t"});
}

TEST_CASE("a run of blanks is one newline token if it holds a line feed, else nothing") {
  CHECK(words_of("a \t b\r\n\r\n  c\fd\n") == std::vector<std::string>{"a", "b", "\n", "c", "d", "\n"});
  CHECK(words_of(" \t ").empty());
}

TEST_CASE("bytes beyond ASCII are letters, so that words in UTF-8 stay whole") {
  CHECK(words_of("M\xc3\xbcller \xc2\xa7"
                 "5") == std::vector<std::string>{"M\xc3\xbcller",
                                                  "\xc2\xa7"
                                                  "5"});
}

TEST_CASE("words are numbered by frequency, ties in byte order, after the two that always exist") {
  const std::vector<std::string> texts{"b b a c", "c \xc3\xa4 Z"};
  const Vocabulary vocabulary = Vocabulary::build(texts, 100);
  REQUIRE(vocabulary.size() == 7);
  const std::vector<std::string> expected{"<unk>", "<end>", "b", "c", "Z", "a", "\xc3\xa4"};
  for (Token token = 0; token < 7; ++token) CHECK(vocabulary.word(token) == expected[static_cast<std::size_t>(token)]);
}

TEST_CASE("words outside the limit are unknown, and text cannot spell a reserved token") {
  const std::vector<std::string> texts{"b b b a a c"};
  const Vocabulary vocabulary = Vocabulary::build(texts, 4);
  CHECK(vocabulary.size() == 4);
  CHECK(vocabulary.encode("a b c d") == std::vector<Token>{3, 2, unknown_word, unknown_word});
  CHECK(vocabulary.encode("<end>") == std::vector<Token>{unknown_word, unknown_word, unknown_word});
}

TEST_CASE("a vocabulary rejects a limit without room for the reserved tokens and tokens it does not have") {
  const std::vector<std::string> texts{"a"};
  CHECK_THROWS_WITH(Vocabulary::build(texts, 1), Catch::Contains("limit=1"));
  const Vocabulary vocabulary = Vocabulary::build(texts, 2);
  CHECK(vocabulary.encode("a") == std::vector<Token>{unknown_word});
  CHECK_THROWS_AS(vocabulary.word(2), DomainError);
  CHECK_THROWS_AS(vocabulary.word(-1), DomainError);
}

}  // namespace foredraft::ngram
