// SPDX-License-Identifier: Apache-2.0
#include "logs/spoken_numbers.hpp"

#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "logs/arms.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"

namespace foredraft::logs {
namespace {

/// Maximum distance of two numbers that belong together, in bytes.
constexpr std::size_t longest_gap = 60;

/// A number in a line, with or without a unit.
struct Figure {
  SpokenPlace place;
  bool is_speed;
  bool is_list = false;  ///< several numbers
};

/// Takes the digits behind a decimal comma, "14,69 tok/s", of a number that is a speed; "2,4" alone is a list.
double take_decimals(std::string_view& rest) {
  static const RE2 decimals("(?i),(\\d{1,2})((?: ?(?:-|\xE2\x80\x93) ?\\d+,\\d{1,2})?[`* ]*" +
                            std::string(spoken_unit) + ".*| (?:with|" + words_for_without + ")\\b.*)");
  std::string digits;
  re2::StringPiece behind;
  if (!RE2::FullMatch(rest, decimals, &digits, &behind)) return 0.0;
  rest = std::string_view(behind.data(), behind.size());
  return std::stod("0." + digits);
}

/// Takes "1.234,5", with points between thousands and a decimal comma.
std::optional<double> take_with_thousands(std::string_view& rest) {
  static const RE2 number("(\\d{1,3}(?:\\.\\d{3}){1,5}),(\\d{1,2})\\b");
  std::string whole, decimals;
  re2::StringPiece behind = rest;
  if (!RE2::Consume(&behind, number, &whole, &decimals)) return std::nullopt;
  rest = std::string_view(behind.data(), behind.size());
  std::erase(whole, '.');
  return std::stod(whole + "." + decimals);
}

/// The number at `begin`; nullopt if it has another unit or is a difference. `of_times`: "ms" is a time per token.
std::optional<Figure> figure_at(std::string_view text, std::size_t begin, bool of_times) {
  static const RE2 unit("(?i)[`* ]*" + std::string(spoken_unit)), ms("(?i)[`* ]*ms\\b");
  static const RE2 other(
      R"((?i)[`*]*(?:[%a-z_\x{d7}]| ?(?:%|(?:ms|s|sec|seconds|[gm]i?b|x|tok\w*|(?:draft|speculative) tokens?)"
      R"(|prompts?|requests?|times)\b)))");
  static const RE2 differs(
      "(?i)[`* ]*(?:faster|slower|more|less|higher|lower|gain|increase|improvement|difference)\\b");
  std::string_view rest = text.substr(begin);
  auto number = take_with_thousands(rest);
  if (!number) number = take_number(rest);
  if (!number || !(*number > 0.0)) return std::nullopt;
  double value = *number + take_decimals(rest);
  static const RE2 range("( ?)(?:-|\xE2\x80\x93) ?(\\d[\\d.,]*)");
  constexpr double widest = 2.0;    // of "20 - 30": "EAGLE 3 - 84 tok/s" is none
  constexpr double repeated = 1.1;  // the middle of a narrower range is as near as a single run
  double low = value, highest = value;
  re2::StringPiece behind = rest, high, blank;
  if (RE2::Consume(&behind, range, &blank, &high)) {
    std::string_view digits(high.data(), high.size());
    const auto last = take_number(digits);
    const bool of_name = begin > 0 && text[begin - 1] == '=';
    if (!blank.empty() && (of_name || last.value_or(0.0) > widest * value)) return std::nullopt;
    if (!last || *last < value) return std::nullopt;
    highest = *last;
    value = 0.5 * (low + highest);
  }
  static const RE2 spread("(?i) ?\\(?(?:\xC2\xB1|\\+ ?/? ?-) ?\\d[\\d.,]*(?: ?%)?\\)?");
  RE2::Consume(&behind, spread);
  const auto place = [&](bool is_time) -> SpokenPlace {
    const auto end = static_cast<std::size_t>(behind.data() - text.data());
    return {.begin = begin,
            .end = end,
            .value = is_time ? 1e3 / value : value,
            .is_time = is_time,
            .is_middle = highest > repeated * low};
  };
  const re2::StringPiece bare = behind;
  const bool is_speed = RE2::Consume(&behind, unit) || (of_times && RE2::Consume(&behind, ms));
  if (!is_speed) {
    const bool of_name = begin > 0 && text[begin - 1] == '=';  // "K=2 up to 36 tok/s"
    if (of_name || RE2::Consume(&behind, other)) return std::nullopt;
    return Figure{place(false), false};
  }
  const std::string_view words(bare.data(), bare.size() - behind.size());
  const bool is_time = in_lower_case(words).find("ms") != std::string::npos;
  static const RE2 mean(
      R"((?i)[`* ]*[,;(]? ?(?:with |and )?(?:an? |the )?(?:on (?:an )?average|average\w*|avg\.?|mean|median|typical\w*|mostly|usually)(?: (?:of|is|was|at|about|around|speed))*[ :=~`*]*([\d.]+\d))");
  re2::StringPiece after_mean = behind;
  double stated = 0.0;
  if (RE2::Consume(&after_mean, mean, &stated) && low < stated && stated < highest) {
    value = stated;
    behind = after_mean;
    RE2::Consume(&behind, unit);
    SpokenPlace found = place(is_time);
    found.is_middle = false;
    return Figure{found, true};
  }
  const SpokenPlace found = place(is_time);
  if (RE2::Consume(&behind, differs)) return std::nullopt;
  return Figure{found, true};
}

/// Numbers that may be speeds, in their order; not those of arms, "K 3".
std::vector<Figure> figures_in(std::string_view text, std::span<const ArmPhrase> arms) {
  static const RE2 number("(?:^|[^\\w.,+\\x{b1}-])(\\d)");
  static const RE2 spread(
      "(?i)(?:\xC2\xB1|\\+ ?/? ?-|\xCF\x83|\\b(?:std(?:ev|dev)?|std\\.? dev\\.?|se|sem|by))[ =:~`*]*$");
  static const RE2 times("(?i)\\b(?:tpot|itl|time per output token|inter-token latency)\\b"), others("(?i)\\bttft\\b");
  const bool of_times = RE2::PartialMatch(text, times) && !RE2::PartialMatch(text, others);
  std::vector<Figure> figures;
  std::array<re2::StringPiece, 2> groups;
  std::size_t at = 0;
  while (at < text.size() && number.Match(text, at, text.size(), RE2::UNANCHORED, groups.data(), groups.size())) {
    const auto begin = static_cast<std::size_t>(groups[1].data() - text.data());
    auto figure = figure_at(text, begin, of_times);
    const auto has = [&](const ArmPhrase& arm) { return arm.begin <= begin && begin < arm.end; };
    if (figure && !figure->is_speed && std::ranges::any_of(arms, has)) figure.reset();
    if (RE2::PartialMatch(text.substr(0, begin), spread)) figure.reset();
    if (figure) figures.push_back(*figure);
    at = figure ? figure->place.end : text.find_first_not_of("0123456789.,", begin);
  }
  return figures;
}

/// Whether two numbers may be speeds of one text.
bool are_alike(const SpokenPlace& one, const SpokenPlace& other) {
  constexpr double most = 8.0;
  return one.value <= most * other.value && other.value <= most * one.value;
}

std::string_view text_between(std::string_view text, const Figure& one, const Figure& next) {
  return text.substr(one.place.end, std::max(next.place.begin, one.place.end) - one.place.end);
}

/// Makes one of repeated runs, "31.2 / 31.0 / 31.4 tok/s". If the numbers of a list differ by more, they are of several
/// things: only its last is kept, as one of them.
void merge_lists(std::string_view text, std::vector<Figure>& figures) {
  static const RE2 mark("(?i)[ `*]*(?:(/)|(,)|&|,? (?:and|y|e|et|und|en))[ ~`*]*");
  static const RE2 respectively("(?i)[^,;.]*\\b(?:respect\\w+|resp|jeweils)\\b.*");
  constexpr double repeated = 1.1;
  std::vector<Figure> merged;
  for (std::size_t begin = 0, end = 0; begin < figures.size(); begin = end) {
    const SpokenPlace& first = figures[begin].place;
    bool is_list = false;
    double low = first.value, high = low, sum = low;
    for (end = begin + 1; end < figures.size() && !figures[end - 1].is_speed; ++end) {
      const SpokenPlace& one = figures[end].place;
      std::string slash, comma;
      if (one.is_time || !are_alike(first, one) ||
          !RE2::FullMatch(text_between(text, figures[end - 1], figures[end]), mark, &slash, &comma))
        break;
      const bool in_change = first.changes || (end + 1 < figures.size() && figures[end + 1].place.changes);
      if (in_change && slash.empty()) break;
      is_list = is_list || comma.empty() || end > begin + 1;  // "batch 32, 45 tok/s" is none
      low = std::min(low, one.value);
      high = std::max(high, one.value);
      sum += one.value;
    }
    if (!is_list) end = begin + 1;
    Figure last = figures[end - 1];
    last.place.begin = first.begin;
    last.place.changes = first.changes;
    last.place.compared = first.compared;
    last.is_list = is_list;
    last.place.is_one_of =
        is_list && (high > repeated * low || RE2::FullMatch(text.substr(last.place.end), respectively));
    if (is_list) last.place.value = last.place.is_one_of ? last.place.value : sum / static_cast<double>(end - begin);
    merged.push_back(last);
  }
  figures = std::move(merged);
}

/// Whether a number without a unit is the speed of an arm beside the speed of another: "MTP 40, plain 20 tok/s".
bool is_of_arm(std::string_view text, std::span<const ArmPhrase> arms, const Figure& bare, const Figure& other) {
  static const RE2 few(
      R"((?i)(?:[ \t,;:=~`*()/&+-]|\b(?:and|vs\.?|versus|or|with|for|at|in|using|the|an?|by|only|just|about|but)"
      R"(|whereas|while|of|gives?|gets?|is|does|has|reach(?:es)?|brings?|makes?|\d+ +tok(?:en)?s?|[123])"
      R"(|mit|avec|con|com|met|et|und|y|e|(?:per|por|par|pro) (?:stream|fluxo|user|request))\b)*)");
  static const RE2 without(std::string("(?i)[ `*]+(?:") + words_for_without + ")\\b.*");
  static const RE2 ends(
      R"((?i)(?:[ `*]*(?:[,.;:()/]|$)|[ `*]+(?:with|without|w/o|mit|ohne|avec|sans|sin|con|sem|com|no|and|or|vs|for|using|on|off|if|when|but|while|in)"
      R"(|plain|base|vanilla|spec|draft|)" +
      std::string(names_of_drafters) + ")).*");
  constexpr double longest_draft = 16.0;
  const SpokenPlace& place = bare.place;
  const bool may_be_length = place.value == std::floor(place.value) && place.value <= longest_draft;
  const std::size_t begin = std::min(place.end, other.place.end), end = std::max(place.begin, other.place.begin);
  if (may_be_length || end - begin > longest_gap || !are_alike(place, other.place)) return false;
  if (!RE2::FullMatch(text.substr(place.end, longest_gap), ends)) return false;
  std::string words;
  std::size_t from = begin;
  for (const ArmPhrase& arm : arms) {
    if (arm.begin < from || arm.end > end) continue;
    words += text.substr(from, arm.begin - from);
    from = arm.end;
  }
  if (from == begin && !RE2::FullMatch(text.substr(place.end, longest_gap), without)) return false;
  words += text.substr(from, end - from);
  return RE2::FullMatch(words, few);
}

}  // namespace

std::vector<SpokenPlace> spoken_places(std::string_view text, std::span<const ArmPhrase> arms) {
  static const RE2 change(R"((?i)[ `*]*(?:\([^()]*\))?[ `*]*(?:[-=]>|\x{2192}|)"
                          R"((?:(?:drop|fall|fell|goe?s|went|ris|rose|jump|increas|decreas|improv|climb|slow)\w* )?)"
                          R"((?:(?:down|up|back) )?to)[ ~`*]*)");
  static const RE2 versus(
      R"((?i)[ `*]*(?:\([^()]*\))?[ `*,]*(?:vs\.?|versus|against|compared (?:to|with)|(instead of|rather than|statt))[ ~`*]*)");
  static const RE2 list("(?i)[ `*]*(?:,|;|/|&|and|,? and)[ ~`*]*");  // of changes
  static const RE2 labeled(R"((?i)[ `*]*(?:,|;|/|&|and|,? and)[ ~`*]*(?:[a-z][\w -]{0,20}:? )?(?:from )?[ ~`*]*)");
  static const RE2 only_to("(?i)[ `*]*to[ ~`*]*"), from(R"((?is).*\bfrom[ ~`*]*)");
  std::vector<Figure> figures = figures_in(text, arms);
  for (std::size_t i = 1; i < figures.size(); ++i) {
    SpokenPlace& before = figures[i - 1].place;
    SpokenPlace& one = figures[i].place;
    const std::string_view between = text.substr(before.end, one.begin - before.end);
    if (between.size() > longest_gap) continue;
    one.changes = RE2::FullMatch(between, change);
    std::string instead;
    one.compared = RE2::FullMatch(between, versus, &instead);
    one.replaces = !instead.empty();
    const std::string_view front = text.substr(0, before.begin);
    const std::string_view words = front.substr(front.size() - std::min(front.size(), longest_gap));
    const bool is_range = !figures[i - 1].is_speed && RE2::FullMatch(between, only_to) && !RE2::FullMatch(words, from);
    if (!is_range) continue;
    one = {.begin = before.begin, .end = one.end, .value = 0.5 * (before.value + one.value)};
    figures[i - 1].is_speed = false;
    before.value = 0.0;
  }
  merge_lists(text, figures);
  const auto joins = [&](std::size_t i) { return figures[i].place.changes || figures[i].place.compared; };
  const auto join = [](Figure& one, const Figure& other) {  // has the unit of the other
    if (one.is_speed || !other.is_speed || !(one.place.value > 0.0)) return;
    one.is_speed = true;
    one.place.is_time = other.place.is_time;
    if (one.place.is_time) one.place.value = 1e3 / one.place.value;
  };
  for (std::size_t i = 1; i < figures.size(); ++i) {
    if (joins(i)) join(figures[i], figures[i - 1]);
  }
  for (std::size_t i = figures.size(); i-- > 1;) {
    const SpokenPlace& before = figures[i - 1].place;
    const std::string_view between = text_between(text, figures[i - 1], figures[i]);
    const bool changes_again = i + 1 < figures.size() && figures[i + 1].place.changes;
    const bool in_list =
        before.changes && between.size() <= longest_gap && RE2::FullMatch(between, changes_again ? labeled : list);
    if (joins(i) || in_list) join(figures[i - 1], figures[i]);
  }
  const auto join_arm = [&](Figure& one, const Figure& other) {
    if (one.is_speed || !other.is_speed || !is_of_arm(text, arms, one, other)) return;
    join(one, other);
    one.place.is_bare = true;
  };
  for (std::size_t i = 1; i < figures.size(); ++i) {  // "MTP: code 80 / 81, prose 50 / 51 tok/s"
    const Figure& before = figures[i - 1];
    if (!before.is_list || before.is_speed || !figures[i].is_list || !figures[i].is_speed) continue;
    const std::size_t end = figures[i].place.begin;
    const auto between = [&](const ArmPhrase& one) { return one.begin >= before.place.end && one.end <= end; };
    if (end - before.place.end <= longest_gap && std::ranges::none_of(arms, between)) figures[i].place.is_one_of = true;
  }
  for (std::size_t i = 1; i < figures.size(); ++i) join_arm(figures[i], figures[i - 1]);
  for (std::size_t i = figures.size(); i-- > 1;) join_arm(figures[i - 1], figures[i]);
  std::vector<SpokenPlace> places;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    if (!figures[i].is_speed) continue;
    places.push_back(figures[i].place);
    const bool follows = i > 0 && figures[i - 1].is_speed;
    places.back().changes = places.back().changes && follows;
    places.back().compared = places.back().compared && follows;
  }
  return places;
}

std::optional<double> stated_length(std::string_view text) {
  static const RE2 stated(
      R"((?i)\b(?:k|n[-_]max|draft-max|num[-_](?:spec\w*|assistant)[-_]tokens)(?: ?[=:] ?| )(\d{1,2})\b)");
  const std::string words = without_sampling(text);
  re2::StringPiece rest = words;
  int length = 0, other = 0;
  const bool one = RE2::FindAndConsume(&rest, stated, &length) && !RE2::PartialMatch(rest, stated, &other);
  return one && length > 0 ? std::optional<double>(length) : std::nullopt;
}

std::optional<double> gain_in_words(std::string_view text) {
  static const RE2 stated(
      R"re((?i)(\d+(?:\.\d+)?) ?(%|x|\x{d7}|times) (?:speed-?up|boost|gain|improvement|increase|faster))re"
      R"re((?:[.,;:)!]|$| (?:with|when|here)\b))re");
  re2::StringPiece rest = text;
  double number = 0.0;
  std::string unit;
  std::optional<double> gain;
  while (RE2::FindAndConsume(&rest, stated, &number, &unit)) {
    if (gain) return std::nullopt;
    gain = unit == "%" ? 1.0 + number / 100.0 : number;
  }
  return gain;
}

std::optional<double> spoken_rate(std::string_view text) {
  static const RE2 after(R"((?i)accept\w*(?: rate)?[^\d\n]{0,16}(\d+(?:\.\d+)?)(?:-\d+)? ?(%?))");
  static const RE2 before(
      R"((?i)(\d+(?:\.\d+)?) ?(%) (?:(?:draft|aggregate|mean|average|avg|overall|token|measured) )*accept)");
  static const RE2 counts(R"((?i)accept[^\d\n|]{0,50}\b(\d+)(?: ?/ ?| of )(\d+)\b)");
  static const RE2 of_tokens(
      R"((?i)\b(?:mean|avg|average|num)[-_ ](?:num[-_ ])?accept(?:ed)?(?:[-_ ]tok\w*)?[ =:]+[\d.]+(?:[^\d.% ]|$| [^%]))");
  double rate = 0.0, drafted = 0.0;
  std::string shares(text);
  RE2::GlobalReplace(&shares, of_tokens, " ");  // "mean_accept=0.27": tokens, not a share
  if (RE2::PartialMatch(shares, counts, &rate, &drafted) && rate > 0.0 && rate <= drafted) return rate / drafted;
  std::string percent;
  if (!RE2::PartialMatch(shares, before, &rate, &percent) && !RE2::PartialMatch(shares, after, &rate, &percent))
    return std::nullopt;
  if (!percent.empty()) rate /= 100.0;
  return rate > 0.0 && rate <= 1.0 ? std::optional(rate) : std::nullopt;
}

std::optional<SpokenLength> spoken_length(std::string_view text) {
  static const RE2 named(
      R"((?i)(?:(?:\b|_)acc(?:pt|ept)?(?:ance|ed)?\.?[ _-]*len(?:gth)?\b[^\n\d|]{0,16}|(?:\b|_)(?:(?-i:AL)|tau|tok(?:ens?)?(?:/|_|_per_| per )(?:target[_ ])?(?:step|forward(?:[_ ]pass)?))[ =:~]{1,4}))"
      "(\\d+\\.\\d+)(?:(?: ?(?:-|\xE2\x80\x93) ?| to )(\\d+\\.\\d+))?",
      byte_options());
  static const RE2 counted(
      R"((?i)(\d+\.\d+)(?: ?- ?(\d+\.\d+))? ?(?:toks?|tokens?)(?: ?/ ?| per )(?:(?:verif\w+|target|decod\w+) )?(?:step|iter(?:ation)?|round|cycle|forward|pass)\b)",
      byte_options());
  static const RE2 several("(?i)->|\xE2\x86\x92|\\bvs\\b|metrics:|length[^\\n]*=", byte_options());
  std::array<re2::StringPiece, 3> groups;
  const re2::StringPiece words = piece(text);
  const auto matches = [&](const RE2& pattern) {
    return pattern.Match(words, 0, words.size(), RE2::UNANCHORED, groups.data(), groups.size());
  };
  if ((!matches(named) && !matches(counted)) || RE2::PartialMatch(words, several)) return std::nullopt;
  std::string_view first(groups[1].data(), groups[1].size()), last(groups[2].data(), groups[2].size());
  const std::size_t begin = static_cast<std::size_t>(groups[1].data() - text.data());
  const re2::StringPiece& number = groups[2].empty() ? groups[1] : groups[2];
  const std::size_t end = static_cast<std::size_t>(number.data() - text.data()) + number.size();
  const double low = take_number(first).value_or(0.0), high = take_number(last).value_or(low);
  if (!(low >= 1.0 && high >= low)) return std::nullopt;
  return SpokenLength{.begin = begin, .end = end, .value = 0.5 * (low + high), .is_exact = groups[2].empty()};
}

bool is_of_all(std::string_view text) {
  static const RE2 together(R"((?i)\b(?:aggregate\w*|total|combined|overall) )");
  return RE2::PartialMatch(text, together);
}

}  // namespace foredraft::logs
