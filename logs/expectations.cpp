// SPDX-License-Identifier: Apache-2.0
#include "logs/expectations.hpp"

#include <re2/re2.h>
#include <algorithm>
#include <cstddef>
#include <string>

#include "logs/clauses.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"

namespace foredraft::logs {
namespace {

/// RE2 of words for values that are not measured. "Predicted" and "target" are none: engines print tokens that are
/// predicted, and the target is a model.
constexpr const char* expected_words =
    R"((?:expect(?:ed|s|ing|ations?)?|promised?|advertis(?:ed|es)|claim(?:s|ed)?|published|projected|projections?)"
    R"(|extrapolated|estimated|forecast(?:ed)?|theoretical(?:ly)?|theory|ideal(?:ly)?|hypothetical(?:ly)?|supposed(?:ly)?)"
    R"(|reportedly|goals?|hop(?:ed|ing) for|aim(?:ed|ing)? (?:for|at)|(?:my|our) targets?|target(?:ed)? (?:speed|throughput|tps|tok\w*/s)))";
/// RE2 of texts of others.
constexpr const char* texts_of_others =
    R"((?:readme|model card|data ?sheet|announcement|press release|blog(?: post)?|paper|vendor|marketing|authors?))";

/// Whether words ahead of a speed, from the speed before it on, say that it is expected.
bool expects(std::string_view ahead) {
  static const RE2 word("(?i).*\\b(" + std::string(expected_words) + ")\\b");
  // "Slower than expected", "as advertised": of what was measured, unless the number follows.
  static const RE2 compares("(?i)\\b(?:than|as|nor|not) (?:(?:i|we|you|is|was|had|the|has been) )*$");
  static const RE2 number_follows("(?i)[\\s~`*(]*(?:speeds? (?:of )?|throughput (?:of )?)?[\\s~`*(]*");
  // What was measured, or an effect that is expected instead of a speed: "expected a gain: baseline 20 tok/s".
  static const RE2 ends(
      R"((?i)\b(?:but|got|gets?|getting|gives?|gave|measur\w*|actual(?:ly)?|observ\w*|real(?:ity|ly)?|sees?|seeing|saw|now|instead)"
      R"(|however|only|ran|achiev\w*|mine|my|speed-?ups?|faster|slower|better|worse|gains?|improve\w*|benefit\w*|boost)\b)");
  static const RE2 others(
      "(?i)\\b((?:according to|per) (?:the |its |their )?(?:[\\w.-]+ ){0,2}" + std::string(texts_of_others) + "|" +
      texts_of_others +
      "(?:'s)?(?: \\w+)?(?: (?:says?|said|claims?|lists?|mentions?|states?|shows?|quotes?|reports?"
      "|promises?|gets?|has|have)\\b|:)|(?:others|people|some(?:one|body)?|they) (?:\\w+ )?(?:report"
      "(?:ed)?|says?|get|got|see|saw)\\b)");
  // Right before the number: "should reach about", "the target is".
  static const RE2 right_before(
      R"((?i).*\b(?:(?:should|would|could|might|ought to|supposed to) (?:\w+ )?(?:be|give|get|reach|see|run|yield|hit|bring|need|deliver))"
      R"(|targets?(?: (?:is|was|of|with \w+))?)(?: (?:at|to|me|you|us|about|around|roughly|least|close|near|over|up|a|an))*[\s~`*:=<>]*)");
  if (RE2::FullMatch(piece(ahead), right_before)) return true;
  re2::StringPiece found;
  if (!RE2::PartialMatch(piece(ahead), word, &found) && !RE2::PartialMatch(piece(ahead), others, &found)) return false;
  const auto begin = static_cast<std::size_t>(found.data() - ahead.data());
  const std::string_view behind = ahead.substr(begin + found.size());
  if (RE2::PartialMatch(piece(ahead.substr(0, begin)), compares) && !RE2::FullMatch(piece(behind), number_follows))
    return false;
  return !RE2::PartialMatch(piece(behind), ends);
}

/// Whether words right behind a speed say that it is expected: "60 tok/s (advertised)", "36 tok/s of the README".
bool is_said_to_be_expected(std::string_view behind) {
  static const RE2 word(
      "(?i)[\\s`*\"'(\\[]*(?:(?:is|was|were|are|that|which) )?(?:(?:the|my|our|their|what|i|we|was|is) )*" +
      std::string(expected_words) +
      "(?:[\\s`*\"']*[).,;|\\]]|[\\s`*]*$| (?:by|in|from|with|without|for|on|speed)\\b).*");
  static const RE2 others("(?i)[^.;,|\\d]{0,30}\\b(?:of|from|in|per|by) (?:the |its |their |your )?(?:[\\w.-]+ )?" +
                          std::string(texts_of_others) + "\\b.*");
  return RE2::FullMatch(piece(behind), word) || RE2::FullMatch(piece(behind), others);
}

/// Of each speed of a sentence, in their order, whether its words say that it was not measured. `begin`: where the
/// sentence `text` begins in the line of the places.
std::vector<bool> are_expected(std::string_view text, std::size_t begin, std::span<const SpokenPlace> places) {
  static const RE2 word("(?i)(?:^|[^a-z])(?:" + std::string(expected_words) + "|" + texts_of_others +
                        "|should|would|could|might|targets?|others|people|some\\w*|they)(?:[^a-z]|$)");
  std::vector<bool> expected(places.size());
  if (!RE2::PartialMatch(piece(text), word)) return expected;
  // It goes on in a list, up to the end of its sentence or brackets, or to words of what was measured.
  static const RE2 goes_on(R"((?i)[^.;!?()]*(?:\([^()]*\)[^.;!?()]*)*(?:[;|/][^.!?()]*)?)");
  static const RE2 measured(
      R"((?i)\b(?:but|i|we|got|gets?|gives?|measur\w*|actual(?:ly)?|observ\w*|real(?:ity)?|now|instead|however|only|mine|my|here)\b)");
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::size_t from = i == 0 ? 0 : places[i - 1].end - begin;
    const std::string_view ahead = text.substr(from, places[i].begin - begin - from);
    const std::string_view behind = text.substr(std::min(places[i].end - begin, text.size()));
    expected[i] = expects(ahead) || is_said_to_be_expected(behind);
    const bool joins = places[i].changes || places[i].compared;
    if (i > 0 && expected[i - 1] && joins) expected[i] = true;
    if (i > 0 && expected[i - 1] && expects(text.substr(0, places[i - 1].begin - begin)) &&
        RE2::FullMatch(piece(ahead), goes_on) && !RE2::PartialMatch(piece(ahead), measured))
      expected[i] = true;
  }
  return expected;
}

}  // namespace

bool is_above_expected(std::string_view caption) {
  const std::size_t heading = caption.rfind("# ");  // the last of several
  const std::string_view words = trimmed(heading == std::string_view::npos ? caption : caption.substr(heading));
  constexpr std::size_t longest = 80;  // a longer one is a sentence
  const bool label = words.starts_with('#') || words.ends_with(':') || words.ends_with(":**");
  return label && words.size() <= longest && names_expected(words);
}

bool names_expected(std::string_view name) {
  static const RE2 word("(?i)(?:^|[^a-z])(?:targets|" + std::string(expected_words) + ")(?:[^a-z]|$)");
  static const RE2 measured("(?i)\\b(?:than|as|nor?|not|vs\\.?|versus|and|actual\\w*|measured|observed|real)\\b");
  return RE2::PartialMatch(piece(name), word) && !RE2::PartialMatch(piece(name), measured);
}

std::vector<bool> expected_in(std::string_view text, std::span<const SpokenPlace> places) {
  std::vector<bool> all;
  for (std::size_t begin = 0, end = 0; begin < text.size() && all.size() < places.size(); begin = end) {
    do end += end_of_sentence(text.substr(end));
    while (end < text.size() && text[end - 2] == ';');
    std::size_t last = all.size();
    while (last < places.size() && places[last].begin < end) ++last;
    const auto here = places.subspan(all.size(), last - all.size());
    const std::vector<bool> expected = are_expected(text.substr(begin, end - begin), begin, here);
    all.insert(all.end(), expected.begin(), expected.end());
  }
  return all;
}

}  // namespace foredraft::logs
