// SPDX-License-Identifier: Apache-2.0
#include "logs/stated_acceptance.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "logs/captions.hpp"
#include "logs/expectations.hpp"
#include "logs/line_fields.hpp"
#include "logs/log_format.hpp"
#include "logs/patterns.hpp"
#include "logs/stated_run.hpp"

namespace foredraft::logs {

void StatedAcceptance::note(std::string_view text) {
  constexpr std::size_t longest = 240;  // of sentences that people write
  if (bytes_ > first_bytes) return;
  bytes_ += text.size();
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.find_first_of("|\t{}") != line.npos) continue;  // a row, or a value
    while (!line.empty()) {
      const std::size_t end = std::min({line.find(". "), line.find("; "), line.size()});
      if (end < longest) note_sentence(line.substr(0, end));
      line.remove_prefix(std::min(end + 2, line.size()));
    }
  }
}

/// Keeps a sentence that names acceptance lengths and has no numbers but these, percentages and a draft length of each,
/// or one that names a rate and has no numbers but that and a draft length.
void StatedAcceptance::note_sentence(std::string_view sentence) {
  static const RE2 length(
      R"((?i)\b(?:(?-i:M?AL)|tau|acc(?:pt|ept)?(?:ance|ed)?[ _-]*len(?:gth)?s?)\b|\xCF\x84)"
      R"(|\btok(?:en)?s?(?: ?/ ?| (?:per|an?|each|every) )(?:\w+ )?(?:step|iter(?:ation)?|round|cycle|forward|pass)\b)",
      byte_options());
  // Of other runs, or no means of these.
  static const RE2 other(
      R"((?i)\b(?:paper|card|report(?:ed|s)?|claim(?:ed|s)?|train\w*|max(?:imum)?|min(?:imum)?|at (?:most|least)|up to|best|peak|worst)"
      R"(|before|previous(?:ly)?|earlier|yesterday|last (?:week|time|month)|used to|vs|versus|instead|should|would|need\w*|if|p\d\d)\b|->|\xE2\x86\x92|[<>])",
      byte_options());
  static const RE2 all(
      R"((?i)\b(?:all|every|each|throughout|across|constant(?:ly)?|same|regardless|independent(?:ly)?|everywhere|any)\b)");
  static const RE2 gammas(
      R"((?i)\b(?:k|n|gamma|draft[ _-]len(?:gth)?s?|num[-_]spec(?:ulative)?[-_]tokens|n[-_ ]?max|(?:spec(?:ulative)?|draft) tokens)\b(?: of|s)? ?[=:]? ?(\d{1,2}(?:(?: ?[/,] ?|,? and )\d{1,2})*)((?: ?[/,])?(?:[^\d./]|$)))");
  static const RE2 left_out(R"(\d+(?:\.\d+)? ?%|(?:\+/-|\xC2\xB1) ?\d+(?:\.\d+)?|[\w./-]*[A-Za-z_][\w/-]*)",
                            byte_options());
  static const RE2 number(R"((\d+(?:\.\d+)?))");
  static const RE2 rate(
      R"((?i)\bacc(?:ept(?:ance|ed)?)?[ _-]*rate\b|% (?:draft )?acceptance\b|% of (?:(?:the|all) )?draft\w*(?: tokens)? (?:are|were|is|get|got) accepted\b)");
  static const RE2 share(R"((\d{1,2}(?:\.\d+)?) ?%|\b(0\.\d+))");
  const bool has_length = RE2::PartialMatch(piece(sentence), length);
  if ((!has_length && !RE2::PartialMatch(piece(sentence), rate)) || RE2::PartialMatch(piece(sentence), other) ||
      names_expected(sentence))
    return;
  sentence = sentence.substr(0, sentence.find_last_not_of(" .!\r") + 1);
  Sentence found{.is_rate = !has_length,
                 .of_all = RE2::PartialMatch(piece(sentence), all),
                 .words = std::string(trimmed(sentence))};
  std::string rest(sentence);
  for (std::string list, behind; RE2::PartialMatch(rest, gammas, &list, &behind);) {
    re2::StringPiece each = piece(list);
    for (int gamma = 0; RE2::FindAndConsume(&each, R"((\d+))", &gamma);) found.gammas.push_back(gamma);
    RE2::Replace(&rest, gammas, R"( \2)");
  }
  std::string percent, fraction;
  if (found.is_rate && RE2::PartialMatch(rest, share, &percent, &fraction)) {
    std::string_view text = percent.empty() ? fraction : percent;
    const double value = take_number(text).value_or(0.0);
    found.lengths.push_back(percent.empty() ? value : value / 100.0);
    RE2::Replace(&rest, share, " ");
  }
  if (found.is_rate && RE2::PartialMatch(rest, share)) return;  // which one?
  RE2::GlobalReplace(&rest, left_out, " ");
  re2::StringPiece numbers = piece(rest);
  for (std::string digits; RE2::FindAndConsume(&numbers, number, &digits);) {
    std::string_view text = digits;
    const double value = take_number(text).value_or(0.0);
    if (digits.find('.') == digits.npos || value < 1.0) return;  // of something else
    found.lengths.push_back(value);
  }
  const bool paired = found.gammas.empty() ? found.lengths.size() == 1 : found.gammas.size() == found.lengths.size();
  if (paired) sentences_.push_back(std::move(found));
}

void StatedAcceptance::take_lines(LogContents& contents) const {
  const auto is_line = [&](const Observation& run) {
    const ObservedTimes& times = run.times;
    const auto states = [&](const Sentence& one) {
      return std::ranges::find(one.lengths, run.acceptance_length.value_or(0.0)) != one.lengths.end();
    };
    return run.decoding != Decoding::plain && !run.acceptance && !run.concurrency && !times.tpot_ms &&
           !times.output_tokens_per_s && !times.iteration_ms && !times.duration_s &&
           std::ranges::any_of(sentences_, states);
  };
  const auto drafts = [](const Observation& run) {
    return run.decoding == Decoding::speculative && run.times.tpot_ms && !run.acceptance && !run.acceptance_length;
  };
  const bool beside = contents.format.starts_with("table ") || contents.format.ends_with(" table");
  if (!beside || std::ranges::none_of(contents.observations, drafts)) return;
  if (std::erase_if(contents.observations, is_line) > 0) contents.format = "table";
}

void StatedAcceptance::name_runs(LogContents& contents) const {
  if (contents.format != "table") return;
  std::vector<Observation*> drafting;
  std::set<std::optional<std::int64_t>> gammas;
  std::set<std::optional<std::string>> drafters, kinds;
  for (Observation& run : contents.observations) {
    if (run.decoding != Decoding::speculative) continue;
    if (run.acceptance || run.acceptance_length || run.acceptance_rate) return;
    drafting.push_back(&run);
    gammas.insert(run.gamma);
    drafters.insert(run.drafter);
    kinds.insert(run.stratum.category);
  }
  if (drafters.size() != 1) return;
  const bool adaptive =
      std::ranges::any_of(drafting, [](const Observation* run) { return run->adaptive.value_or(false); });
  const bool has_lengths = std::ranges::any_of(sentences_, [](const Sentence& one) { return !one.is_rate; });
  std::map<std::optional<std::int64_t>, double> lengths;
  std::string words;
  for (const Sentence& one : sentences_) {
    if (one.is_rate && has_lengths) continue;
    if ((one.gammas.empty() && gammas.size() != 1) || (kinds.size() > 1 && !one.of_all)) return;
    for (std::size_t i = 0; i < one.lengths.size(); ++i) {
      const auto gamma = one.gammas.empty() ? *gammas.begin() : std::optional(one.gammas[i]);
      if (one.is_rate && (!gamma || adaptive)) return;
      const double length = one.is_rate ? 1.0 + one.lengths[i] * static_cast<double>(*gamma) : one.lengths[i];
      if (lengths.emplace(gamma, length).first->second != length) return;  // which one?
    }
    if (words.empty()) words = one.words;
  }
  const auto is_more = [](const auto& one) { return one.first && one.second > static_cast<double>(*one.first) + 1.0; };
  if (std::ranges::any_of(lengths, is_more)) return;  // no acceptance lengths of these K
  bool given = false;
  for (Observation* run : drafting) {
    const auto length = lengths.find(run->gamma);
    if (length == lengths.end()) continue;
    set_acceptance_length(*run, length->second);
    given = true;
  }
  if (given && !has_lengths) warn_once(contents, "W20", drafting.front()->line, length_of_rate);
  if (given)
    contents.warnings.push_back({.code = "W22",
                                 .line = drafting.front()->line,
                                 .message = fmt::format("acceptance lengths are those of \"{}\"", words)});
}

}  // namespace foredraft::logs
