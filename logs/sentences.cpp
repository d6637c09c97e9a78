// SPDX-License-Identifier: Apache-2.0
#include "logs/sentences.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include "logs/arms.hpp"
#include "logs/clauses.hpp"
#include "logs/expectations.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/spoken_numbers.hpp"
#include "logs/subjects.hpp"
#include "logs/table_cells.hpp"

namespace foredraft::logs {
namespace {

/// The words in brackets behind a speed; empty: none.
std::string_view brackets_at(std::string_view behind) {
  behind.remove_prefix(std::min(behind.find_first_not_of(" `*"), behind.size()));
  if (!behind.starts_with('(')) return {};
  return behind.substr(0, behind.find(')'));
}

/// The arm that words in brackets after a speed name: "38 t/s (without draft)".
std::optional<Arm> arm_in_brackets(std::string_view behind) {
  static const RE2 count(R"((?i).*\bn ?= ?\d+)");  // of drafts or of runs?
  const std::string_view words = brackets_at(behind);
  const bool counts = RE2::FullMatch(words, count) && arm_phrases(words).size() == 1;
  return words.empty() || counts ? std::nullopt : arm_in_text(words);
}

/// The ratio that brackets after a speed state: 1.81 of "(1.81x, n=3)", 3.36 of "(+236 % speedup)".
std::optional<double> gain_behind(std::string_view behind) {
  static const RE2 share("\\d[\\d.]* ?%.*");  // "85 % accepted"
  std::string_view words = brackets_at(behind);
  if (words.empty()) return std::nullopt;
  words.remove_prefix(1);
  return RE2::FullMatch(words, share) ? std::nullopt : gain_in(words);
}

/// Whether a gain is `after` / `before`, as rounded.
bool agrees(std::optional<double> gain, double before, double after) {
  constexpr double rounded = 0.02;
  return gain && std::abs(after / before - *gain) <= rounded * *gain;
}

/// Takes the speeds that nobody measured out of a sentence that ends at `end` of a line. Returns where the clause of
/// those before the first measured one ends; 0: there is none.
std::size_t take_expected(std::string_view text, std::size_t end, std::vector<SpokenPlace>& places,
                          const std::vector<bool>& is_expected, std::vector<SpokenSpeed>& expected,
                          std::int64_t number) {
  std::vector<SpokenPlace> measured;
  std::size_t ends = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const SpokenPlace& place = places[i];
    if (is_expected[i]) {
      expected.push_back({.line = number, .tokens_per_s = place.value});
      const std::size_t next = std::max(i + 1 < places.size() ? places[i + 1].begin : end, place.end);
      if (measured.empty()) ends = place.end + end_of_clause(text.substr(place.end, next - place.end));
      continue;
    }
    measured.push_back(place);
    if (i == 0 || is_expected[i - 1]) measured.back().changes = measured.back().compared = false;  // continues none
  }
  places = std::move(measured);
  return ends;
}

/// The arm of the first words of a line that name one that drafts; one without details if they name only the other.
std::optional<Arm> drafting_arm_in(std::string_view text, std::span<const ArmPhrase> phrases) {
  if (phrases.empty()) return std::nullopt;
  const auto first = std::ranges::find_if(phrases, [](const ArmPhrase& one) { return !one.is_plain(); });
  if (first == phrases.end()) return Arm{.speculative = true};
  const auto next = std::find_if(first, phrases.end(), [](const ArmPhrase& one) { return one.is_plain(); });
  const std::size_t end = next == phrases.end() ? text.size() : next->begin, begin = first->begin;
  const std::string_view words = text.substr(begin, end - begin);
  return arm_in_text(words.substr(0, std::min(end_of_clause(words), end_of_sentence(words))));
}

/// The texts left and right of the group of the first match of `pattern`; nullopt if there is none.
std::optional<std::pair<std::string_view, std::string_view>> sides_of(std::string_view text, const RE2& pattern) {
  re2::StringPiece found;
  if (!RE2::PartialMatch(text, pattern, &found)) return std::nullopt;
  const auto at = static_cast<std::size_t>(found.data() - text.data());
  return std::pair{text.substr(0, at), text.substr(at + found.size())};
}

/// Whether words name two draft lengths, or one that changes: "from MTP2 to MTP4", "n-max from 2 to 4".
bool changes_length(std::string_view text) {
  static const RE2 length(
      R"((?i)\b(?:mtp|nextn|k|n[-_ ]?max|num[-_]spec\w*|(?:draft|spec\w*)[-_ ](?:n|max|len\w*|tokens?|depth)))"
      R"((?:(?:[ =:-]{0,3}| from )(\d{1,2})\b(?:(?: to |[ `*]*(?:->|\x{2192})[ `*]*)(\d{1,2})\b)?))");
  std::set<int> lengths;
  re2::StringPiece rest = piece(text);
  for (std::string first, second; RE2::FindAndConsume(&rest, length, &first, &second);) {
    for (const std::string& one : {first, second})
      if (!one.empty() && std::stoi(one) > 0) lengths.insert(std::stoi(one));
  }
  return lengths.size() > 1;
}

/// Whether words name a change other than to speculation: "after the fix", "K=1 -> K=3: ", "MTP + FP8 cache", but not
/// "27B -> 27B MTP: ".
bool names_other_change(std::string_view text, std::string_view front) {
  static const RE2 arrow("(->|\xE2\x86\x92)");
  if (const auto sides = sides_of(front, arrow)) {
    const auto from = arm_in_text(sides->first), to = arm_in_text(sides->second);
    const bool drafts = to && !to->plain;
    if (!drafts || (from && !from->plain) || without_arm(sides->first) != without_arm(sides->second)) return true;
  }
  static const RE2 other(
      R"((?i)\b(?:fix\w*|after (?:the|this)|patch\w*|updat\w*|commit|merge\w*|optimi\w*|upgrad\w*|tun(?:ed?|ing))\b)"
      R"(|\b(?:spec|draft|)" +
      std::string(names_of_drafters) + R"()[-\w]* ?[+&] ?\w)");
  return RE2::PartialMatch(text, other);
}

/// The arm of the first of two speeds, "350 vs 180 tok/s": the one that the words before them name ("disabling MTP ("),
/// the first if they have a "vs" too ("MTP vs baseline: "); nullopt if they name both in another way.
std::optional<Arm> arm_of_first(std::string_view front) {
  static const RE2 versus(R"((?i)(\b(?:vs\.?|versus)[ \t]))");
  static const RE2 both(R"((?i)\b(?:than|over|compared|against|base(?:line)?)\b)"), also(" (and|or) ");
  if (const auto sides = sides_of(front, versus)) {
    const auto first = arm_in_text(sides->first), second = arm_in_text(sides->second);
    return first && second && first->plain != second->plain ? first : std::nullopt;
  }
  const auto list = sides_of(front, also);
  const bool several = (list && arm_in_text(list->second)) || RE2::PartialMatch(front, both);
  return several ? std::nullopt : arm_in_text(front);
}

// ---- A sentence

/// The words of one sentence of a line, and what they say of its speeds.
class Sentence {
 public:
  struct Words {
    std::string_view line;
    std::string_view before;              ///< the sentences before it
    std::string_view text;                ///< it
    std::span<const ArmPhrase> arms;      ///< of the line
    std::optional<Arm> drafts;            ///< what the line names as its drafting arm
    std::span<const SpokenPlace> places;  ///< its speeds
    std::string_view compares;
    std::span<const double> loads;  ///< that it or, if it names none, the last sentence before it that does names
  };
  explicit Sentence(const Words& words);

  void add_to(SpokenLine& spoken, std::int64_t number) const;

 private:
  struct Said {
    Arm arm;
    ArmPhrase::Kind kind = ArmPhrase::Kind::plain;
    bool in_brackets = false;
  };

  [[nodiscard]] std::span<const ArmPhrase> arms_in(std::string_view words) const;
  [[nodiscard]] std::optional<Said> said_in(std::string_view words, bool ahead) const;
  [[nodiscard]] std::optional<Said> contradicted(std::size_t i) const;
  [[nodiscard]] std::string_view gap(std::size_t i) const;
  [[nodiscard]] std::string_view behind(std::size_t i) const;
  [[nodiscard]] bool names_arm(std::size_t i) const { return !arms_in(gap(i)).empty(); }
  [[nodiscard]] bool is_other_change(std::size_t i) const;
  [[nodiscard]] Said other_than(const Said& said) const;
  void read_words();
  void complete_pair(std::size_t i);
  [[nodiscard]] std::optional<Arm> compared_above(std::size_t i) const;
  void share_change();
  void read_relative();

  Words words_;
  std::vector<std::optional<Said>> said_ = {};  ///< of each speed
};

Sentence::Sentence(const Words& words) : words_(words), said_(words.places.size()) {
  read_words();
  for (std::size_t i = 0; i + 1 < said_.size(); ++i) complete_pair(i);
  if (words_.drafts) read_relative();
  for (std::size_t i = 0; i + 1 < said_.size(); ++i) complete_pair(i);  // "41 vs 38 tok/s without"
  share_change();
  for (std::size_t i = 0; i < said_.size(); ++i)
    if (words_.places[i].is_one_of) said_[i] = std::nullopt;
}

/// The text between speeds `i` - 1 and `i`, without brackets behind the first.
std::string_view Sentence::gap(std::size_t i) const {
  const std::span<const SpokenPlace> places = words_.places;
  const std::size_t from = i == 0 ? words_.before.size() : places[i - 1].end;
  const std::size_t to = i < places.size() ? places[i].begin : words_.before.size() + words_.text.size();
  std::string_view words = words_.line.substr(from, to - from);
  const std::string_view brackets = i == 0 ? std::string_view() : brackets_at(words);
  if (!brackets.empty())
    words.remove_prefix(static_cast<std::size_t>(brackets.data() - words.data()) + brackets.size());
  return words;
}

/// What follows speed `i`, up to the next one.
std::string_view Sentence::behind(std::size_t i) const {
  const std::span<const SpokenPlace> places = words_.places;
  const std::size_t to = i + 1 < places.size() ? places[i + 1].begin : words_.before.size() + words_.text.size();
  return words_.line.substr(places[i].end, to - places[i].end);
}

/// The phrases of the line that are in these words of it.
std::span<const ArmPhrase> Sentence::arms_in(std::string_view words) const {
  const auto begin = static_cast<std::size_t>(words.data() - words_.line.data());
  const auto first = std::ranges::lower_bound(words_.arms, begin, {}, &ArmPhrase::begin);
  const auto last = std::ranges::upper_bound(words_.arms, begin + words.size(), {}, &ArmPhrase::end);
  return first < last ? std::span(first, last) : std::span<const ArmPhrase>();
}

/// What words name, of several kinds the nearest; nullopt if they name none, or compare two.
std::optional<Sentence::Said> Sentence::said_in(std::string_view words, bool ahead) const {
  static const RE2 both(R"((?i)\b(?:than|over|vs|versus|compared|against|and|or)\b)");
  const std::span<const ArmPhrase> phrases = arms_in(words);
  if (phrases.empty()) return std::nullopt;
  const auto begin = static_cast<std::size_t>(words.data() - words_.line.data());
  const ArmPhrase near = ahead ? phrases.back() : phrases.front();
  const auto differs = [&](const ArmPhrase& one) { return one.is_plain() != near.is_plain(); };
  std::string_view same = words;
  if (ahead) {
    const auto other = std::find_if(phrases.rbegin(), phrases.rend(), differs);
    if (other != phrases.rend()) same = words.substr(other->end - begin);
  } else {
    const auto other = std::ranges::find_if(phrases, differs);
    if (other != phrases.end()) same = words.substr(0, other->begin - begin);
  }
  if (same.size() < words.size() && RE2::PartialMatch(words, both)) return std::nullopt;
  auto arm = arm_in_part(words_.line, same, arms_in(same));
  if (!arm) return std::nullopt;
  return Said{.arm = *std::move(arm), .kind = near.kind};
}

/// The arm right behind speed `i`, if the words before it name the other one: "MTP is slower: 40 tok/s without MTP,".
std::optional<Sentence::Said> Sentence::contradicted(std::size_t i) const {
  static const RE2 direct("(?i)[ `*]*(?:with|no|using|if|when|" + std::string(words_for_without) + ")\\b.*");
  const std::string_view next = gap(i + 1), clause = next.substr(0, end_of_clause(next));
  if (!RE2::FullMatch(clause, direct) || (i + 1 < said_.size() && clause.size() == next.size())) return std::nullopt;
  const auto before = said_in(gap(i), true), behind = said_in(clause, false);
  return before && behind && before->arm.plain != behind->arm.plain ? behind : std::nullopt;
}

/// The arm of a speed is that of the brackets behind it; else, if all words stand behind the speeds, of those, or if
/// all stand before them, of these; else of the words before it, up to a comma; else of the clause behind it; else,
/// right after a comma, of the words before that.
void Sentence::read_words() {
  static const RE2 from("(?i)\\b(up |down )?from[ ~`*]*$");  // "by 60 % from 30 tok/s"
  const std::size_t count = said_.size();
  const bool may_share = count > 1 && std::ranges::none_of(words_.places, &SpokenPlace::is_bare);
  bool all_before = may_share && !names_arm(count), all_behind = may_share && !names_arm(0);
  for (std::size_t i = 0; i < count; ++i) {
    all_before = all_before && names_arm(i);
    all_behind = all_behind && names_arm(i + 1);
  }
  std::size_t used = 0;  // bytes behind the speed before that name its arm
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view ahead = gap(i).substr(std::min(used, gap(i).size()));
    used = 0;
    const bool changes = i + 1 < count && words_.places[i + 1].changes;
    if (std::string from_where; !changes && RE2::PartialMatch(ahead, from, &from_where)) {
      if (i > 0 && said_[i - 1] && !from_where.empty()) said_[i] = other_than(*said_[i - 1]);
      continue;
    }
    if (const auto arm = arm_in_brackets(behind(i))) {
      said_[i] = {.arm = *arm, .in_brackets = true};
      continue;
    }
    if (said_[i] = contradicted(i); said_[i]) {
      used = end_of_clause(gap(i + 1));
      continue;
    }
    if (all_before || all_behind) {
      said_[i] = all_before ? said_in(ahead, true) : said_in(gap(i + 1), false);
      continue;
    }
    const std::size_t comma = ahead.find_last_of(",;");
    const std::string_view front = ahead.substr(comma + 1);
    said_[i] = said_in(front, true);
    if (said_[i]) continue;
    const std::string_view clause = gap(i + 1).substr(0, end_of_clause(gap(i + 1)));
    said_[i] = said_in(clause, false);
    constexpr std::size_t few = 12;  // "I get about"
    if (said_[i]) {
      used = clause.size();
    } else if (comma < ahead.size() && trimmed(front).size() <= few && !names_other_speed(front)) {
      said_[i] = said_in(ahead.substr(0, comma), true);
    }
  }
}

/// The other arm of two.
Sentence::Said Sentence::other_than(const Said& said) const {
  if (!said.arm.plain) return {.arm = {.plain = true}};
  return {.arm = words_.drafts.value_or(Arm{.speculative = true}), .kind = ArmPhrase::Kind::drafts};
}

/// Whether speeds `i` and `i` + 1 are before and after something else than speculation.
bool Sentence::is_other_change(std::size_t i) const {
  const std::string_view next = behind(i + 1), brackets = brackets_at(next);
  const std::string_view clause = brackets.empty() ? next.substr(0, end_of_clause(next)) : brackets;
  return names_other_change(words_.text, gap(i)) || changes_length(fmt::format("{}; {}", gap(i), clause));
}

/// Of a change or a comparison, words may name only one arm, or those of both in their order.
void Sentence::complete_pair(std::size_t i) {
  auto& first = said_[i];
  auto& second = said_[i + 1];
  const SpokenPlace& place = words_.places[i + 1];
  if (place.compared && !(first && first->in_brackets) && !second) {
    const auto arm = arm_of_first(gap(i));
    first = arm ? std::optional(Said{.arm = *arm}) : std::nullopt;
    if (first) second = other_than(*first);
    return;
  }
  static const RE2 becomes(R"((?is).*\b(?:(?:drop|fall|goe|ris|jump|increas|decreas|climb)\w* (?:down |up )?to)"
                           R"(|becomes?|turns into)[ ~`*]*)");
  if (!first && second && !place.changes && RE2::FullMatch(gap(i + 1), becomes) && !names_other_speed(gap(i)) &&
      !is_other_change(i))
    first = other_than(*second);
  static const RE2 opens(R"((?s)[^()]*\([ ~`*]*)");  // "41 tok/s (20 without MTP)"
  const bool joins = place.changes || place.compared || names_other_speed(gap(i));
  if (!first && second && second->arm.plain && !joins && RE2::FullMatch(gap(i + 1), opens)) first = other_than(*second);
  const bool is_chain = place.compared && ((i > 0 && words_.places[i].compared) ||
                                           (i + 2 < said_.size() && words_.places[i + 2].compared));
  if (place.compared && second && !first && !is_chain) {
    first = other_than(*second);
    if (place.replaces && !second->in_brackets) std::swap(first, second);
  }
  if (place.changes && first && second && !first->arm.plain && !second->arm.plain && !first->in_brackets &&
      !second->in_brackets) {  // the words before and behind are of the whole
    if (second->arm.gamma) {
      first = second = std::nullopt;
    } else {
      first = other_than(*second);
    }
    return;
  }
  if (!place.changes || (first && second)) return;
  const bool other = is_other_change(i);
  if (first && !first->in_brackets) {  // the words before a change are of the whole
    const bool is_noun = first->kind == ArmPhrase::Kind::plain || first->kind == ArmPhrase::Kind::precedes;
    second = *first;
    first = other_than(*second);
    if (is_noun || other) first = second = std::nullopt;
    return;
  }
  if (first) {
    second = other_than(*first);
  } else if (second) {
    first = other_than(*second);
    if (other) first = second = std::nullopt;
  } else if (!other) {
    std::optional<Arm> arm;
    const std::span<const ArmPhrase> earlier = arms_in(words_.before);
    if (!earlier.empty() && std::ranges::none_of(earlier, &ArmPhrase::is_plain)) arm = words_.drafts;
    if (!arm && !names_other_speed(gap(i))) arm = compared_above(i);
    if (!arm || arm->plain) return;
    second = Said{.arm = *arm, .kind = ArmPhrase::Kind::drafts};
    first = other_than(*second);
  }
}

/// What drafts of speeds `i` and `i` + 1, a change that the line above is about: after "MTP vs baseline" if a gain
/// follows that is theirs; after "baseline vs MTP" or "slower after enabling MTP" if only words of measures precede it.
std::optional<Arm> Sentence::compared_above(std::size_t i) const {
  static const RE2 measure(
      R"((?i)(?:[\W\d_]|\b(?:tps|tpot|itl|p\d\d|mean|median|average|output|decod(?:e|ing)|generation|token|speed|throughput)"
      R"(|latency|time|ms|per|qps|users?|the|of|at|from|is|was|went|goes|rises?|rose|drop\w*|f[ae]ll?s?|reduc\w*|improv\w*)"
      R"(|increas\w*|decreas\w*|up|down|by|x)\b)*)");
  static const RE2 due(R"((?i)\b(?:with|after|by|when|using|due|because)\b)");
  const std::string_view compares = words_.compares;
  const std::size_t versus = compares.find(" vs");
  auto first = arm_in_text(compares.substr(0, versus));
  if (agrees(gain_behind(behind(i + 1)), words_.places[i].value, words_.places[i + 1].value)) return first;
  const std::string_view next = gap(i + 2);
  if (!RE2::FullMatch(piece(gap(i)), measure) || RE2::PartialMatch(piece(next.substr(0, end_of_clause(next))), due))
    return std::nullopt;
  if (tells_effect(compares)) return arm_in_text(compares);
  return versus != compares.npos && first && first->plain ? arm_in_text(compares.substr(versus)) : std::nullopt;
}

/// Of several changes in a sentence, "20 -> 40 and 30 -> 50 tok/s with MTP", words before or behind all of them are of
/// each.
void Sentence::share_change() {
  std::optional<std::size_t> named;
  for (std::size_t i = 0; i < said_.size(); i += 2) {
    if (i + 1 >= said_.size() || !words_.places[i + 1].changes || (i > 0 && names_arm(i)) || names_arm(i + 1)) return;
    if (said_[i] && said_[i + 1]) named = named ? std::nullopt : std::optional(i);
  }
  if (!named || (*named > 0 && *named + 2 < said_.size())) return;
  for (std::size_t i = 0; i < said_.size(); ++i)
    if (!said_[i] && !names_other_speed(gap(i - i % 2))) said_[i] = said_[*named + i % 2];
}

/// Words that mean an arm only beside a speed of the other: "with: 41 t/s, without: 20 t/s".
void Sentence::read_relative() {
  static const RE2 plain("(?i)\\W*(?:and |but )?(?:before|off|disabled|" + std::string(words_for_without) +
                         R"()\W*|.*\b(?:normal(?:ly)?|otherwise)\b.*)");
  static const RE2 drafts(
      R"((?i)\W*(?:and |but )?(?:with|now|on|after|enabled)\W*|.*\b(?:with|enabl(?:e|ed|ing)) it(?: on| enabled)?\W*)");
  const auto says = [&](std::size_t i, const RE2& pattern) {
    const std::string_view ahead = gap(i), next = gap(i + 1);
    return RE2::FullMatch(ahead.substr(ahead.find_last_of(",;") + 1), pattern) ||
           RE2::FullMatch(next.substr(0, end_of_clause(next)), pattern) ||
           RE2::FullMatch(brackets_at(behind(i)), pattern);
  };
  const bool precedes =
      std::ranges::any_of(said_, [](const auto& one) { return one && one->kind == ArmPhrase::Kind::precedes; });
  for (std::size_t i = 0; i < said_.size(); ++i) {
    if (said_[i]) continue;
    if (says(i, plain)) said_[i] = Said{.arm = {.plain = true}};
    if (says(i, drafts) || (precedes && said_.size() == 2))
      said_[i] = Said{.arm = *words_.drafts, .kind = ArmPhrase::Kind::drafts};
  }
}

void Sentence::add_to(SpokenLine& spoken, std::int64_t number) const {
  const auto drafting = std::ranges::count_if(said_, [](const auto& one) { return one && !one->arm.plain; });
  const std::span<const double> loads = words_.loads;
  const std::string model = model_in(words_.line);
  for (std::size_t i = 0; i < said_.size(); ++i) {
    const SpokenPlace& place = words_.places[i];
    const bool other = names_other_speed(gap(i)) || (place.changes && names_other_speed(gap(i - 1)));
    const auto gain = gain_behind(behind(i));
    if (!said_[i]) {
      const bool begins =
          i + 1 < said_.size() && !said_[i + 1] && (words_.places[i + 1].changes || words_.places[i + 1].compared);
      if (other || begins || place.is_bare) continue;
      if (place.compared && names_arm(i - 1) && std::ranges::all_of(arms_in(gap(i - 1)), &ArmPhrase::is_plain))
        continue;
      if (place.changes || place.compared)
        spoken.unnamed.push_back({.line = number, .before = words_.places[i - 1].value, .after = place.value});
      else if (gain)
        spoken.unnamed.push_back({.line = number, .before = place.value / *gain, .after = place.value});
      if (place.compared) continue;
    }
    SpokenSpeed speed{.line = number, .tokens_per_s = place.value};
    if (said_[i]) speed.arm = said_[i]->arm;
    const std::string_view next = behind(i);
    const std::string_view front = i == 0 ? gap(i) : gap(i).substr(end_of_clause(gap(i)));
    speed.subject = subject_in(said_.size() == 1 ? std::string(words_.text)
                                                 : fmt::format("{} {}", front, next.substr(0, end_of_clause(next))));
    if (loads.size() == 1 && (loads.front() == 1.0 || is_of_all(words_.text))) speed.load = loads.front();
    if (loads.size() == 1) speed.requests = fmt::format("{} requests", loads.front());
    speed.model = model;
    static const RE2 most("(?i)\\bup to[ ~`*]*$");
    speed.is_most = RE2::PartialMatch(gap(i), most);
    speed.is_middle = place.is_middle;
    speed.is_time = place.is_time;
    const auto joins = [&](std::size_t at) {
      return at > 0 && at < said_.size() && (words_.places[at].changes || words_.places[at].compared);
    };
    if (joins(i) != joins(i + 1)) speed.pair = words_.places[joins(i) ? i : i + 1].begin;
    speed.changes = place.changes || (i + 1 < said_.size() && words_.places[i + 1].changes);
    if (speed.arm && !speed.arm->plain) {
      speed.rate = spoken_rate(drafting == 1 ? words_.text : next);
      speed.arm->adaptive = speed.arm->adaptive || ends_drafts_early(drafting == 1 ? words_.text : next);
      speed.gain = gain || said_.size() > 1 ? gain : gain_in_words(words_.text);
    }
    spoken.speeds.push_back(std::move(speed));
  }
}

}  // namespace

bool tells_effect(std::string_view text) {
  static const RE2 effect(
      R"((?i)\b(?:slow\w*|fast\w*|gains?|benefits?|speed-?up|improve\w*|degrad\w*|regress\w*|worse|better|drops?|boost)\b)");
  static const RE2 enabled("(?i)" + std::string(enabling));
  if (!RE2::PartialMatch(piece(text), effect) || !RE2::PartialMatch(piece(text), enabled)) return false;
  const auto arm = arm_in_text(text);
  return arm && !arm->plain;
}

SpokenLine spoken_line(std::string_view text, std::int64_t number, std::string_view compares) {
  static const RE2 of_one(R"((?i)\b(?:per|each|/) ?(?:request|user|stream|session|client|slot)\b)");
  const auto is_several = [](double load) { return load > 1.0; };
  SpokenLine spoken;
  spoken.may_be_of_all = std::ranges::any_of(loads_in(text), is_several) && !RE2::PartialMatch(text, of_one);
  const std::vector<ArmPhrase> arms = arm_phrases(text);
  std::vector<SpokenPlace> places = spoken_places(text, arms);
  if (places.empty()) return spoken;
  if (!std::ranges::all_of(places, &SpokenPlace::is_time)) {
    for (std::size_t i = 1; i < places.size(); ++i)  // what follows a time continues no speed
      if (places[i - 1].is_time) places[i].changes = places[i].compared = false;
    std::erase_if(places, [](const SpokenPlace& one) { return one.is_time; });
  }
  const std::optional<Arm> drafts = drafting_arm_in(text, arms);
  const std::vector<bool> is_expected = expected_in(text, places);
  std::size_t next = 0;
  std::vector<double> loads;
  for (std::size_t begin = 0; begin < text.size() && next < places.size();) {
    const std::size_t end = begin + end_of_sentence(text.substr(begin));
    std::vector<double> named = loads_in(text.substr(begin, end - begin));
    if (!named.empty() || names_one_request(text.substr(begin, end - begin))) loads = std::move(named);
    const std::size_t from = next;
    while (next < places.size() && places[next].begin < end) ++next;
    std::vector<SpokenPlace> here(places.begin() + static_cast<std::ptrdiff_t>(from),
                                  places.begin() + static_cast<std::ptrdiff_t>(next));
    const std::vector<bool> expected(is_expected.begin() + static_cast<std::ptrdiff_t>(from),
                                     is_expected.begin() + static_cast<std::ptrdiff_t>(next));
    const std::size_t behind = take_expected(text, end, here, expected, spoken.expected, number);
    if (!here.empty()) {
      const auto drafts_behind = [&](const ArmPhrase& one) {
        return one.begin >= behind && one.begin < end && !one.is_plain();
      };
      const std::size_t first = std::ranges::any_of(arms, drafts_behind) ? std::max(begin, behind) : begin;
      Sentence({.line = text,
                .before = text.substr(0, first),
                .text = text.substr(first, end - first),
                .arms = arms,
                .drafts = drafts,
                .places = here,
                .compares = compares,
                .loads = loads})
          .add_to(spoken, number);
    }
    begin = end;
  }
  const auto drafting = [](const SpokenSpeed& one) { return one.arm && !one.arm->plain; };
  const auto one = std::ranges::find_if(spoken.speeds, drafting);
  if (std::ranges::count_if(spoken.speeds, drafting) != 1) return spoken;
  if (!one->rate) one->rate = spoken_rate(text);
  if (const auto length = spoken_length(text); length && length->is_exact) one->length = length->value;
  if (!one->arm->gamma) one->arm->gamma = stated_length(text);
  return spoken;
}

}  // namespace foredraft::logs
