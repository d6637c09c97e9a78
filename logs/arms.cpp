// SPDX-License-Identifier: Apache-2.0
#include "logs/arms.hpp"

#include <re2/re2.h>
#include <algorithm>
#include <array>

#include "logs/expectations.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/record_fields.hpp"

namespace foredraft::logs {
namespace {

/// Whether a name such as "baseline MTP3" says that also the run that others are compared with drafts.
bool is_drafting_baseline(std::string_view name) {
  static const RE2 drafts(
      R"((?i)\W*(?:base(?:line)?|vanilla|stock|plain|normal|standard|control)\b(?:[ +/][^,;:=<>]*?|[^,;:=<>]*\([^)]*?)?[ (+])"
      R"((?:)" +
      std::string(names_of_drafters) + R"(|spec\w* ?(?:on|enabled))(?:[- ]?[1-9]\d?)?(?:[^\w-].*)?)");
  static const RE2 other(
      R"((?i).*\b(?:no|non|not|without|w/o|off|none|disabled|inactive|false|for|vs|of|before|over|autoregressive|gguf|models?)"
      R"(|weights?|heads?|quant\w*|checkpoint|0)\b.*)");
  const re2::StringPiece text = piece(name);
  return RE2::FullMatch(text, drafts) && !RE2::FullMatch(text, other);
}

/// Whether words inside a name say that nothing drafts, and no other ones that something does: "SGLang (w/o spec, 2x
/// A100)", "TRT-LLM baseline, TP4".
bool is_plain_inside(std::string_view name) {
  static const std::string method =
      "(?:spec|draft|" + std::string(names_of_drafters) + ")[-\\w]*(?: decod\\w*| models?)?";
  static const RE2 says_so("(?i)(|.*?[^a-z])(?:((?:" + std::string(names_of_plain) + ") ?[,;(])|(?:(?:no|non|" +
                           words_for_without + ")[- _]" + method + "|" + method +
                           "[ :=]+(?:is )?(?:off|disabled|inactive)) ?[,;()])(.*)");
  static const RE2 drafts("(?i)(?:^|[^a-z])(?:spec|draft|with|published|reported|claimed|[kn] ?=? ?\\d|" +
                          std::string(names_of_drafters) + ")");
  std::string before, word, behind;
  return RE2::FullMatch(piece(name), says_so, &before, &word, &behind) && !RE2::PartialMatch(before, drafts) &&
         !RE2::PartialMatch(behind, drafts) && (word.empty() || !before.ends_with('('));  // "v1 (baseline, 2 runs)"
}

/// Whether a name that ends with "no MTP" has another drafter before it: "EAGLE-3, no MTP".
bool drafts_with_another(std::string_view name) {
  static const RE2 both("(?i).*?(?:^|[^a-z])(" + std::string(names_of_drafters) + ")(.*[^a-z](?:no|non|" +
                        words_for_without + ")[- _](" + names_of_drafters + ")[-\\w]*\\W*)");
  static const RE2 of_model("(?i)\\W*(?:heads?|models?|weights?|gguf|quant\\w*|checkpoint)\\b.*");
  std::string drafter, behind, other;
  if (!RE2::FullMatch(piece(name), both, &drafter, &behind, &other) || RE2::FullMatch(behind, of_model)) return false;
  return in_lower_case(drafter) != in_lower_case(other);
}

}  // namespace

bool looks_tokens_up(std::string_view drafter) {
  static const RE2 lookup(R"((?i)n-?gram|look-?up|suffix|\bpld\b)");
  return RE2::PartialMatch(piece(drafter), lookup);
}

bool fills_blocks(std::string_view drafter) {
  static const RE2 block("(?i)d-?flash");
  return RE2::PartialMatch(piece(drafter), block);
}

std::optional<int> block_size_in(std::string_view text) {
  // An option "--block-size" is vLLM's, of its KV cache.
  static const RE2 block(
      R"re((?i)(--|kv[-_ ]|cache[-_ ]|page[-_ ]|\b)(?:block(?:[-_ ]?size)?["'`]?(?: of| is)?[ :=]{1,3}(\d{1,2})\b|(\d{1,2})[- ]token blocks?\b|blocks of (\d{1,2})\b)( ?(?:[/,|-]|to|and|or|vs\.?) ?\d)?)re",
      byte_options());
  std::string of, first, second, third, more;
  std::optional<int> size;
  for (re2::StringPiece rest = piece(text); RE2::FindAndConsume(&rest, block, &of, &first, &second, &third, &more);) {
    if (!of.empty()) continue;
    const int tokens = std::stoi(!first.empty() ? first : !second.empty() ? second : third);
    size = more.empty() && size.value_or(tokens) == tokens ? tokens : 0;
  }
  return size;
}

void note_drafter(Observation& run, const Arm& arm) {
  if (!run.drafter || run.drafter == arm.drafter) note(run.tree, arm.tree);
  note(run.drafter, arm.drafter);
}

void note_arm(Observation& run, const Arm& arm) {
  note(run.gamma, whole(arm.gamma));
  note_drafter(run, arm);
}

bool ends_drafts_early(std::string_view text) {
  static const RE2 threshold(
      R"((?i)\b(?:p[-_ ]?min|(?:conf(?:idence)?|entropy|prob\w*)[-_ ](?:thr\w*|min|cut-?off|gate))["'`]?[ =:><]*(\d*\.?\d+))");
  static const RE2 words(
      R"((?i)\b(?:adaptive|dynamic[-_ ](?:draft|spec|k\b|len|depth|gamma)|early[-_ ](?:stop|exit)))");
  re2::StringPiece rest = text;
  for (double least = 0.0; RE2::FindAndConsume(&rest, threshold, &least);)
    if (least > 0.0) return true;  // 0 ends none
  return RE2::PartialMatch(piece(text), words);
}

std::string without_sampling(std::string_view text) {
  static const RE2 sampled(R"((?i)\btop[-_ ]?[kp][ =:]*\d[\d.]*)");
  std::string rest(text);
  RE2::GlobalReplace(&rest, sampled, " ");
  return rest;
}

Arm arm_named(std::string_view name) {
  static const RE2 plain(
      R"((?i)\W*(?:plain|ar|off|none|no|false|n/a|disabled|inactive|normal|standard|control|target(?:[- _]only)?)"
      R"(|non?[- _]?(?:(?:spec|draft|)" +
      std::string(names_of_drafters) + R"()\w*|sd)|)" + std::string(names_of_plain) + "|" + words_for_without +
      R"()(?:\W.*)?|\W*0(?:[^\w.].*)?|-sd)");
  // "8B baseline", "prose, no speculation", "MTP off"
  static const RE2 ends_plain(R"((?i)[^a-z](?:(?:)" + std::string(names_of_plain) + ")|(?:no|non|" + words_for_without +
                              R"()[- _](?:spec\w*(?:[- _]decod\w*)?|(?:draft|)" + std::string(names_of_drafters) +
                              R"()[-\w]*|sd)\W*)$)"
                              R"(|(?:^|[^a-z])(?:spec\w*|draft\w*|(?:)" +
                              std::string(names_of_drafters) +
                              R"()(?:-?\d)?|sd)[ :=_-]+(?:off|none|no|disabled|inactive|false)$|(?:: |\()plain\)?$)");
  struct Length {
    RE2 pattern;
    int longest;  ///< more are tokens of an answer
  };
  static const std::array<Length, 6> lengths{
      {{RE2(R"((?i)(?:^|[^\d.])(\d{1,2})[- ]steps?\W.*(?:top-?k|draft))"), 64},  // of a tree or a chain
       {RE2(R"((?i)(?:(?:^|(?:mtp|nextn|spec|draft|eagle-?[23]?)[-_ ])d|(?:^|[^a-z\d])nd|(?:^|[^a-z])(?:k|n|nst|gamma|\x{3B3}|n[-_ ]?max|draft(?:[-_ ]?n)?(?:[-_ ]?max)?|draft_num_predict|num[-_ ]?(?:spec\w*|draft|assistant)[-_ ]?tokens|(?:draft|lookup)[-_ ]num[-_ ]tokens|nextn_predict_layers)"
            R"(|n[-_ ]?spec|spec(?:ulative)?[-_ ]?tokens|depth|(?:num[-_ ]?)?steps)[ ]?[=: _-]?[ ]?)(\d{1,3})(?:[^\d.b]|\.\D|\.?$))"),
        64},
       {RE2(R"((?i)(?:^|[^\d.])(\d{1,3})[- ]?(?:draft|spec(?:ulative)?) tok(?:en)?s?(?:\W|$))"), 64},
       {RE2(R"((?i)(?:^|[^\d.])(\d{1,3})[- ]?tok(?:en)?s?(?:\W|$))"), 16},
       {RE2(R"((?i)(?:(?:mtp|nextn|spec|eagle-?[23]|medusa|n-?gram)[-_ ]?(?::|[@(x ]?[ ]?|=[ ]?)|d-?flash2?(?:[-_ ]*(?::|[@(x ][ ]?)|-))(\d{1,2})(?:[^\d.bx]|\.\D|\.?$))"),
        64},
       {RE2(R"((?i)(?:^|[^a-z])dflash([3-9]|1\d)(?:[^\d.b]|\.\D|\.?$))"), 64}}};
  static const RE2 other(
      R"((?i)\W*(?:(?:prefix|radix|prompt|kv|cuda|chunked|flash)[-_ ]?(?:cach\w*|graphs?|prefill|att\w*)\b.*)"
      R"(|(?:(?:(?:[tpde]p|(?:nv|mx)?fp|bf|int|i?q|w)[-_= ]?\d+a?\d*(?:_[a-z0-9]{1,2}|_e\dm\d)*|awq|gptq)[-_/,+ ]*)+))");
  static const RE2 version(R"((?i)\b(dflash)[- ]2\b)");  // of the drafter, no draft length
  Arm arm;
  std::string text(trimmed(name));
  if (text.empty() || RE2::FullMatch(text, other) || names_expected(text)) return arm;
  RE2::GlobalReplace(&text, version, "\\12");
  static const RE2 lookup(R"((?i)n-?gram.*\bdraft)"), match(R"((?i)\bn ?= ?\d+\b|\bdraft ?= ?\d+(?: ?/ ?\d+)+)");
  if (RE2::PartialMatch(text, lookup)) RE2::GlobalReplace(&text, match, "");  // "n=1 draft=2": of the n-gram, K
  arm.plain = RE2::FullMatch(text, plain) || RE2::PartialMatch(text, ends_plain) || is_plain_inside(text);
  arm.plain = arm.plain && !is_drafting_baseline(text) && !drafts_with_another(text);
  if (arm.plain) return arm;
  arm.adaptive = ends_drafts_early(text);
  static const RE2 no_length(  // of the setup and the load: "MTP (2 GPUs)", "EAGLE-3 (1 H100)", "MTP 4-bit"
      R"((?i)(^|[ (,;+/])\d+ ?x? ?-?(?:gpus?|cards?|nodes?|threads?|cores?|slots?|users?|clients?|streams?|requests?|reqs?|concurrent|parallel)"
      R"(|runs?|prompts?|bits?|(?:nvidia|amd|intel|rtx|gtx|tesla|radeon|mi ?|gb|[abhlv])[ -]?\d{2,4}[a-z]*)\b)");
  RE2::GlobalReplace(&text, no_length, "\\1");
  text = without_sampling(text);
  const int block = fills_blocks(text) ? block_size_in(text).value_or(0) : 0;
  if (block > 1) arm.gamma = block - 1;  // of which the first token is known
  for (const Length& length : lengths) {
    int tokens = 0;
    if (arm.gamma || !RE2::PartialMatch(text, length.pattern, &tokens) || tokens > length.longest) continue;
    arm.gamma = tokens;
    arm.plain = tokens == 0;
    break;
  }
  // The digit of "EAGLE-3" and "DFlash2" is a version; "MTP3" drafts 3.
  static const RE2 known(R"((?i)(?:^|[^a-z])(eagle[- ]?[123]?|d-?flash2?|fr-spec|n-?gram(?:[-_][a-z]+)?|)" +
                         std::string(names_of_drafters) + ")(?:[^a-z]|$)");
  static const RE2 first_word("(?i)\\W*([a-z]+).*");
  std::string word;
  static const RE2 says_nothing(
      R"((?i)(?:k|n|d|gamma|on|yes|true|with|spec\w*|sd|draft\w*|tokens?|depth|steps|num|run|linear|config|enabled|active)?)");
  const bool is_known = RE2::PartialMatch(text, known, &word);
  // Numbers of others, and engines of which no word says that they draft.
  static const RE2 others(R"((?i).*\b(?:published|reported|claimed)\b.*)");
  static const RE2 engine(
      R"((?i)\W*(?:upstream|stock|(?:ik_)?llama\.cpp|vllm|sglang|ollama|lm ?studio|mlx[-_](?:lm|vlm)|exllama\w*|lmdeploy)"
      R"(|trt-?llm|tensorrt-?llm|(?:hf |hugging ?face )?transformers)(?:\W[^+]*)?)");
  static const RE2 drafts("(?i)(?:^|[^a-z])(?:spec|draft|with)");
  const bool of_engine = RE2::FullMatch(text, engine) && !RE2::PartialMatch(text, drafts);
  if (!is_known && !arm.gamma && (of_engine || RE2::FullMatch(text, others))) return arm;
  const bool named = is_known || RE2::FullMatch(text, first_word, &word);
  if (named && !RE2::FullMatch(word, says_nothing)) {
    std::erase(word, ' ');
    arm.drafter = in_lower_case(word);
    if (arm.drafter->starts_with("d-flash")) arm.drafter->erase(1, 1);
  }
  static const RE2 says_that_it_drafts(R"((?i)(?:on|yes|true|with|spec\w*|sd|draft\w*|enabled|active))");
  arm.speculative = RE2::FullMatch(word, says_that_it_drafts);
  return arm;
}

std::string setup_drafted_for(std::string_view name) {
  static const RE2 note(R"( *\([^()]*\))");
  std::string words = in_lower_case(trimmed(name));
  RE2::GlobalReplace(&words, note, "");
  const std::size_t plus = words.find('+');
  if (plus == std::string::npos || plus != words.rfind('+')) return {};
  const std::string setup(trimmed(std::string_view(words).substr(0, plus)));
  const auto before = arm_in_text(setup), behind = arm_in_text(words.substr(plus + 1));
  return before || !behind || behind->plain ? std::string() : setup;
}

bool names_other_speed(std::string_view text) {
  static const RE2 other(R"((?is)(?:^|.*[^a-z])(?:prompt|prefill|pp|peak|input|encoded)(?:[^a-z].*|$))");
  static const RE2 lookup("(?i)prompt[-_ ]?lookup");  // a drafter
  std::string words(text);
  RE2::GlobalReplace(&words, lookup, "");
  return RE2::FullMatch(words, other);
}

std::vector<ArmPhrase> arm_phrases(std::string_view text) {
  // Between other letters than those of a word; the groups are the kinds but the first, in their order.
  static const std::string method =
      "(?:(?:" + std::string(names_of_drafters) + ")2?|spec|specul\\w+|draft(?:er|ing|s|[- ]models?)?|assisted)";
  // The draft model of assisted generation; in other texts an assistant is who answers.
  static const std::string assistant = "assistant(?:[-_ ]model)?";
  static const std::string named =
      "(?:spec\\w*|draft\\w*|(?:" + std::string(names_of_drafters) + ")(?:-?[123])?\\w*|sd|" + assistant + ")";
  static const RE2 phrase(
      "(?i)(?:^|[^a-z])(?:"
      "(" +
      std::string(names_of_plain) +
      "|plain|ar|(?:normal|regular|standard|ordinary) (?:decod\\w+|generation)|(?:no|non|" + words_for_without +
      ")[- ]?(?:(?:an?|any|the|my) )?(?:it|any|anything|" + named + ")|-sd|(?:it|" + named +
      "(?: decod\\w+| model)?)[ :=_-]*(?:(?:is|was|turned|switched) )*(?:off|none|disabled|inactive))"
      "|((?:disabl|remov)(?:e|ed|es|ing) (?:the )?" +
      named + "|(?:turn|switch)(?:ed|es|ing)? (?:off (?:the )?" + named + "|(?:the )?" + named +
      "(?: decod\\w+)? off))"
      "|(before (?:(?:i|we) )?(?:\\w+(?:ing|ed) )?(?:the )?(?:-*\\w+[- ]){0,2}" +
      named +
      ")"
      "|(\\d{1,2}[- ]steps?\\W.*(?:top-?k|draft)|steps?[ =:]+\\d{1,2}\\W.*(?:top-?k|draft)|\\+sd|(?:with|using) "
      "sd|(?:with|using) (?:(?:an?|the|my) )?" +
      assistant +
      "|(?:num[-_]assistant|(?:draft|lookup)[-_]num)[-_]tokens[ =:]+\\d+|-md|\\d{1,2} (?:draft|spec\\w*) "
      "tokens?|" +
      method + "|[kn] ?=? ?\\d+|n[-_ ]?max[ =:]{1,2}\\d+|d\\d))(?:[^a-z]|$)");
  static const RE2 sampled("(?i)\\btop[-_ ]?$");  // "top-k 20": of the sampling
  static const RE2 letter("(?i)[kn]\\d+"), family("(?i)kimi[- _]$"), version(R"(^\.\d|^-[A-Z])");  // "Kimi-K2.6"
  using Kind = ArmPhrase::Kind;
  constexpr std::array kinds{Kind::plain, Kind::disables, Kind::precedes, Kind::drafts};
  std::vector<ArmPhrase> phrases;
  const re2::StringPiece all = piece(text);
  std::array<re2::StringPiece, 1 + kinds.size()> groups;
  for (std::size_t at = 0; phrase.Match(all, at, all.size(), RE2::UNANCHORED, groups.data(), groups.size());) {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const re2::StringPiece& group = groups.at(i + 1);
      if (group.data() == nullptr) continue;
      const auto begin = static_cast<std::size_t>(group.data() - text.data());
      at = begin + group.size();
      const std::string_view before = text.substr(0, begin), behind = text.substr(at);
      if (RE2::PartialMatch(before, sampled)) continue;
      if (RE2::FullMatch(group, letter) && (RE2::PartialMatch(before, family) || RE2::PartialMatch(behind, version)))
        continue;
      phrases.push_back({.begin = begin, .end = at, .kind = kinds.at(i)});
    }
  }
  return phrases;
}

std::optional<Arm> arm_in_text(std::string_view text) { return arm_in_part(text, text, arm_phrases(text)); }

std::optional<Arm> arm_in_part(std::string_view line, std::string_view text, std::span<const ArmPhrase> phrases) {
  constexpr std::string_view marks = " \t*`#>:=(\"'";
  if (phrases.empty()) return std::nullopt;
  text = text.substr(0, text.find_last_not_of(marks) + 1);
  if (names_other_speed(text)) return std::nullopt;
  if (std::ranges::any_of(phrases, &ArmPhrase::is_plain) && !is_drafting_baseline(text)) return Arm{.plain = true};
  const auto begin = static_cast<std::size_t>(text.data() - line.data());
  std::string words(text.substr(phrases.front().begin - begin));
  static const RE2 answer(R"((?i)\b\d+ ?tok\w*,?(?: (?:generated|emitted|output))?,?(?: in)? *[\d.]+ ?m?s\b)");
  RE2::GlobalReplace(&words, answer, "");  // "12 tokens, 0.5 s"
  static const RE2 sign(R"((?i)^(?:\+|with |using )sd\b)");
  RE2::Replace(&words, sign, "");
  Arm arm = arm_named(words);
  if (arm.plain && arm.gamma) return Arm{.plain = true};  // "mtp=0"
  if (arm.plain) arm = {};
  static const RE2 sized(R"((?i)\bdraft\w*(?: model)?[ (:=]+(\d+(?:\.\d+)?b)\b|\b(\d+(?:\.\d+)?b) draft)");
  std::string before, behind;
  if (!arm.drafter && RE2::PartialMatch(piece(text), sized, &before, &behind))
    arm.drafter = in_lower_case(before + behind);
  arm.speculative = true;
  arm.adaptive = arm.adaptive || ends_drafts_early(text);
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
      R"((?i)\b(?:no|non|with|plain|ar|on|off|none|disabled|enabled|active|inactive|)" + std::string(names_of_plain) +
      "|" + words_for_without + R"(|(?:)" + std::string(names_of_drafters) +
      R"()(?:-?[123])?|spec\w*(?: type)?|decod\w*|draft\w*|assisted|sd|(?:k|n|gamma|n[-_ ]max|depth) ?=? ?\d+)\b)");
  static const RE2 blanks(" +");
  std::string rest = without_repetition(name);
  RE2::GlobalReplace(&rest, arm, " ");
  RE2::GlobalReplace(&rest, blanks, " ");
  return std::string(trimmed(rest));
}

std::string model_without_drafter(std::string_view model) {
  // A word of the name itself has none of these marks before it: "Eagle2-9B" is a model.
  static const RE2 drafter("(?i)[-.:+ ](?:(?:no|non|with|" + std::string(words_for_without) +
                           ")-?)?(?:(?:" + std::string(names_of_drafters) +
                           R"()(?:-?\d(?:\.\d)?)?|vanilla|baseline|spec(?:ulat\w*|-?dec\w*)?|draft\w*)\b)");
  std::string name(model);
  std::ranges::replace(name, '_', '-');
  RE2::GlobalReplace(&name, drafter, "");
  return name;
}

std::string kind_in(std::string_view name) {
  static const RE2 number(R"(\b\d+\b)"), blanks(" +");
  std::string rest = without_arm(name);
  RE2::GlobalReplace(&rest, number, " ");
  RE2::GlobalReplace(&rest, blanks, " ");
  return std::string(trimmed(rest));
}

}  // namespace foredraft::logs
