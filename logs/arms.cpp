// SPDX-License-Identifier: Apache-2.0
#include "logs/arms.hpp"

#include <re2/re2.h>
#include <algorithm>
#include <array>

#include "logs/line_fields.hpp"

namespace foredraft::logs {

Arm arm_named(std::string_view name) {
  static const RE2 plain(
      R"((?i)\W*(?:plain|base(?:line)?|off|none|no|false|n/a|no[- _]?(?:spec\w*|mtp|draft\w*|eagle\w*|dflash2?|sd)|(?:without|ohne)\b.*)"
      R"(|w/o\b.*|vanilla|autoregressive|ar|target(?:[- _]only)?|non[- _]?spec\w*|disabled|inactive|normal|standard|control)(?:\W.*)?|\W*0(?:[^\w.].*)?|-sd)");
  // "8B baseline", "prose, no speculation", "MTP off"
  static const RE2 ends_plain(
      R"((?i)[^a-z](?:(?:base(?:line)?|vanilla)|(?:no|non|without|w/o)[- _](?:spec\w*(?:[- _]decod\w*)?|mtp|draft\w*|eagle\w*|dflash2?|sd)\W*)$)"
      R"(|(?:^|[^a-z])(?:mtp|spec\w*|eagle-?3?|draft\w*|dflash2?|sd)[ :=_-]+(?:off|none|no|disabled|inactive|false)$)");
  struct Length {
    RE2 pattern;
    int longest;  ///< more are tokens of an answer
  };
  static const std::array<Length, 5> lengths{
      {{RE2(R"((?i)(?:(?:^|(?:mtp|nextn|spec|draft|eagle-?[23]?)[-_ ])d|(?:^|[^a-z])(?:k|n|nst|gamma|\x{3B3}|n[-_ ]?max|draft(?:[-_ ]?n)?(?:[-_ ]?max)?|num[-_ ]?(?:spec\w*|draft)[-_ ]?tokens)"
            R"(|n[-_ ]?spec|spec(?:ulative)?[-_ ]?tokens|depth|(?:num[-_ ]?)?steps)[ ]?[=: _-]?[ ]?)(\d{1,3})(?:[^\d.b]|\.\D|\.?$))"),
        64},
       {RE2(R"((?i)(?:^|\D)(\d{1,3})[- ]?(?:draft|spec(?:ulative)?) tok(?:en)?s?(?:\W|$))"), 64},
       {RE2(R"((?i)(?:^|\D)(\d{1,3})[- ]?tok(?:en)?s?(?:\W|$))"), 16},
       {RE2(R"((?i)(?:(?:mtp|nextn|spec|eagle-?[23]|medusa|n-?gram)[-_ ]?(?::|[@(x ]?[ ]?|=[ ]?)|dflash2?(?:[-_ ]*(?::|[@(x ][ ]?)|-))(\d{1,2})(?:[^\d.b]|\.\D|\.?$))"),
        64},
       {RE2(R"((?i)(?:^|[^a-z])dflash([3-9]|1\d)(?:[^\d.b]|\.\D|\.?$))"), 64}}};
  static const RE2 other(
      R"((?i)(?:prefix|radix|prompt|kv|cuda|chunked|flash)[-_ ]?(?:cach\w*|graphs?|prefill|att\w*)\b.*)");
  static const RE2 version(R"((?i)\b(dflash)[- ]2\b)");  // of the drafter, no draft length
  Arm arm;
  std::string text(trimmed(name));
  if (text.empty() || RE2::FullMatch(text, other)) return arm;
  RE2::GlobalReplace(&text, version, "\\12");
  arm.plain = RE2::FullMatch(text, plain) || RE2::PartialMatch(text, ends_plain);
  if (arm.plain) return arm;
  for (const Length& length : lengths) {
    int tokens = 0;
    if (!RE2::PartialMatch(text, length.pattern, &tokens) || tokens > length.longest) continue;
    arm.gamma = tokens;
    arm.plain = tokens == 0;
    break;
  }
  // The digit of "EAGLE-3" and "DFlash2" is a version; "MTP3" drafts 3.
  static const RE2 known(
      R"((?i)(?:^|[^a-z])(eagle[- ]?[123]?|dflash2?|mtp|dspark|medusa|n-?gram(?:[-_][a-z]+)?|suffix|lookahead|pld)(?:[^a-z]|$))");
  static const RE2 first_word("(?i)([a-z]+).*");
  std::string word;
  static const RE2 says_nothing(
      R"((?i)(?:k|n|d|gamma|on|yes|true|with|spec\w*|sd|draft\w*|tokens?|depth|steps|num|run|linear|config|enabled|active)?)");
  const bool is_known = RE2::PartialMatch(text, known, &word);
  // Numbers of others, and engines of which no word says that they draft.
  static const RE2 others(R"((?i).*\b(?:published|reported|claimed)\b.*)");
  static const RE2 engine(
      R"((?i)\W*(?:upstream|stock|(?:ik_)?llama\.cpp|vllm|sglang|ollama|lm ?studio|mlx[-_](?:lm|vlm)|exllama\w*|lmdeploy)"
      R"(|trt-?llm|tensorrt-?llm)(?:\W[^+]*)?)");
  static const RE2 drafts("(?i)(?:^|[^a-z])(?:spec|draft|with)");
  const bool of_engine = RE2::FullMatch(text, engine) && !RE2::PartialMatch(text, drafts);
  if (!is_known && !arm.gamma && (of_engine || RE2::FullMatch(text, others))) return arm;
  const bool named = is_known || RE2::FullMatch(text, first_word, &word);
  if (named && !RE2::FullMatch(word, says_nothing)) {
    std::erase(word, ' ');
    arm.drafter = in_lower_case(word);
  }
  static const RE2 says_that_it_drafts(R"((?i)(?:on|yes|true|with|spec\w*|sd|draft\w*|enabled|active))");
  arm.speculative = RE2::FullMatch(word, says_that_it_drafts);
  return arm;
}

bool names_other_speed(std::string_view text) {
  static const RE2 other(R"((?is)(?:^|.*[^a-z])(?:prompt|prefill|pp|peak|input|encoded)(?:[^a-z].*|$))");
  return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), other);
}

std::optional<Arm> arm_in_text(std::string_view text) {
  static const RE2 plain(
      R"((?i)-sd|(?:.*[^a-z])?(?:(?:baseline|base|vanilla|plain|autoregressive|ar)(?:[^a-z].*)?)"
      R"(|(?:without|w/o|no|non|ohne)[- ]?(?:(?:an?|any|the) )?(?:it|any|spec\w*|mtp|draft\w*|eagle\w*|dflash2?|sd)(?:[^a-z].*)?)"
      R"(|(?:.*[^a-z])?(?:disabling|turning off|switching off) (?:the )?(?:spec\w*|mtp|draft\w*|eagle\w*|dflash2?)(?:[^a-z].*)?)"
      R"(|(?:mtp|spec\w*|sd|eagle-?3?|draft\w*|dflash2?)[ :=_-]*(?:off|none|disabled|inactive)(?:[^a-z].*)?))");
  static const RE2 drafts(
      R"((?i)\+sd(.*)|(?:.*?[^a-z])??((?:mtp|eagle|dflash2?|dspark|medusa|n-?gram|spec|specul\w+|draft(?:er|ing|s| model)?)"
      R"(|nextn|assisted|pld|lookahead|[kn] ?= ?\d+|d\d)(?:[^a-z].*)?))");
  constexpr std::string_view marks = " \t*`#>:=(\"'";
  const auto skip_marks = [&] { text.remove_prefix(std::min(text.find_first_not_of(marks), text.size())); };
  skip_marks();
  if (text.starts_with("- ")) text.remove_prefix(1);
  skip_marks();
  text = text.substr(0, text.find_last_not_of(marks) + 1);
  const re2::StringPiece words(text.data(), text.size());
  if (text.empty() || names_other_speed(text)) return std::nullopt;
  if (RE2::FullMatch(words, plain)) return Arm{.plain = true};
  std::string setting;  // what follows "+SD"
  std::string drafter;
  if (!RE2::FullMatch(words, drafts, &setting, &drafter)) return std::nullopt;
  static const RE2 answer(R"((?i)\b\d+ ?tok\w*,?(?: (?:generated|emitted|output))?,?(?: in)? *[\d.]+ ?m?s\b)");
  RE2::GlobalReplace(&drafter, answer, "");  // "12 tokens, 0.5 s"
  Arm arm = arm_named(setting + drafter);
  if (arm.plain) arm = {};
  arm.speculative = true;
  return arm;
}

std::string without_repetition(std::string_view name) {
  static const RE2 brackets(
      R"((?i)\((?:[^)a-z]|\b(?:run|trial|try|rep(?:eat)?|round|seed|again|warm|cold|n|of|mean|avg)\b)*\))");
  static const RE2 repetition(
      R"((?i)(?:\b(?:run|trial|try|rep(?:eat)?|round|seed|again)\b|#)[ #:=]*\d*|\b\d+(?:st|nd|rd|th)\b)");
  static const RE2 other(R"([^\w]+|_)");
  std::string rest(name);
  RE2::GlobalReplace(&rest, brackets, " ");
  RE2::GlobalReplace(&rest, repetition, " ");
  RE2::GlobalReplace(&rest, other, " ");
  return in_lower_case(trimmed(rest));
}

std::string without_arm(std::string_view name) {
  static const RE2 arm(
      R"((?i)\b(?:no|non|without|with|w/o|plain|base(?:line)?|vanilla|autoregressive|ar|on|off|none|disabled|enabled|active|inactive|mtp)"
      R"(|nextn|eagle-?[123]?|dflash2?|dspark|medusa|n-?gram|suffix|lookahead|pld|spec\w*|decod\w*|draft\w*|sd|(?:k|n|gamma|n[-_ ]max|depth) ?=? ?\d+)\b)");
  static const RE2 blanks(" +");
  std::string rest = without_repetition(name);
  RE2::GlobalReplace(&rest, arm, " ");
  RE2::GlobalReplace(&rest, blanks, " ");
  return std::string(trimmed(rest));
}

std::string kind_in(std::string_view name) {
  static const RE2 number(R"(\b\d+\b)"), blanks(" +");
  std::string rest = without_arm(name);
  RE2::GlobalReplace(&rest, number, " ");
  RE2::GlobalReplace(&rest, blanks, " ");
  return std::string(trimmed(rest));
}

}  // namespace foredraft::logs
