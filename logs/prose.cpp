// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/arms.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/stated_run.hpp"
#include "logs/table_cells.hpp"

/// Text that names arms and their speeds: "baseline: 31 tok/s", "I get 52 t/s with MTP, 31 t/s without it". It is
/// read only if nothing else in the file says whether a run speculates.
namespace foredraft::logs {
namespace {

/// A speed: a number of tokens/s and its unit.
constexpr std::string_view spoken_speed =
    R"((?i)\d[\d.,]*[`* ]*(?:t(?:o?ks?|oken|okens)?(?:/|[- ]per[- ])s(?:ec|econd)?|tps)\b)";

/// The same, or a comparison of arms: "27B-MTP vs Base 27B".
constexpr std::string_view prose_anchor =
    R"((?i)\d[\d.,]*[`* ]*(?:t(?:o?ks?|oken|okens)?(?:/|[- ]per[- ])s(?:ec|econd)?|tps)\b)"
    R"(|accept(?:ance|ed)?[ -]len(?:gth)?\b[^\n\d|]{0,16}\d)"
    R"(|(?:mtp|eagle|dflash|medusa|draft|spec)[^\n|]{0,40}\bvs\.? [^\n|]{0,20}\b(?:base|plain|no|without))";

/// Maximum number of speeds that are read: text has fewer.
constexpr std::size_t max_spoken = 1000;
/// Maximum length of a line that is read, in bytes: a paragraph is shorter.
constexpr std::size_t max_spoken_line = std::size_t{1} << 14U;

/// What ran, as the words around a speed name it, in lower case; empty: not named.
struct Subject {
  std::string engine = {}, size = {}, quantization = {};
};

/// A speed, and what the text says about it.
struct SpokenSpeed {
  std::int64_t line = 0;
  Arm arm = {};
  double tokens_per_s = 0.0;
  std::optional<double> rate = {};
  std::optional<double> gain = {};  ///< over the one without speculation, as stated
  std::optional<double> load = {};  ///< requests at once, whose speeds are added up
  Subject subject = {};
  std::string setup = {};  ///< if the text has several: "line" and its number
};

/// The speeds before and after a change that no words name.
struct UnnamedChange {
  std::int64_t line = 0;
  double before = 0.0, after = 0.0;  ///< tokens/s
};

/// The rate of "85.2 % acceptance", "accept 0.71" or "accept 72-85 %" (its lower end) as a fraction.
std::optional<double> spoken_rate(std::string_view text) {
  static const RE2 after(R"((?i)accept\w*[^\d\n]{0,12}(\d+(?:\.\d+)?)(?:-\d+)? ?(%?))");
  static const RE2 before(R"((?i)(\d+(?:\.\d+)?) ?(%) accept)");
  const re2::StringPiece line(text.data(), text.size());
  double rate = 0.0;
  std::string percent;
  if (!RE2::PartialMatch(line, before, &rate, &percent) && !RE2::PartialMatch(line, after, &rate, &percent))
    return std::nullopt;
  if (!percent.empty()) rate /= 100.0;
  return rate > 0.0 && rate <= 1.0 ? std::optional(rate) : std::nullopt;
}

/// The requests at once of a line, if it names one number of them and, unless that is 1, that its speeds are those of
/// all together: "2x aggregate throughput at c=32".
std::optional<double> spoken_load(std::string_view text) {
  static const RE2 load(
      R"((?i)(?:\b(?:(?:c|bs|np) ?= ?|(?:concurrency|batch[-_ ]?size)(?: of)?[ =:]{1,3})(\d{1,4})\b|\b(\d{1,4}) (?:concurrent|parallel) ))");
  static const RE2 of_all(R"((?i)\b(?:aggregate\w*|total|combined|overall) )");
  re2::StringPiece rest(text.data(), text.size());
  std::optional<double> found;
  std::string named, counted;
  while (RE2::FindAndConsume(&rest, load, &named, &counted)) {
    std::string_view digits = named.empty() ? counted : named;
    const auto requests = take_number(digits);
    if (found && found != requests) return std::nullopt;
    found = requests;
  }
  const bool all = RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), of_all);
  return found == 1.0 || all ? found : std::nullopt;
}

/// The arm that words in brackets after a speed name: "38 t/s (without draft)".
std::optional<Arm> arm_in_brackets(std::string_view behind) {
  behind = trimmed(behind);
  if (!behind.starts_with('(')) return std::nullopt;
  behind = behind.substr(0, behind.find(')'));
  static const RE2 count(R"((?i).*\bn ?= ?\d+)");  // of drafts or of runs?
  return RE2::FullMatch(re2::StringPiece(behind.data(), behind.size()), count) ? std::nullopt : arm_in_text(behind);
}

/// Whether two speeds are those before and after something: "38 t/s to 29 t/s".
bool is_change(std::string_view between) {
  static const RE2 change("(?i)[ `*]*(?:to|->|\xE2\x86\x92)[ ~`*]*");
  return RE2::FullMatch(re2::StringPiece(between.data(), between.size()), change);
}

/// "BaseRT 0.2.0", "vLLM", "27B", "Q4_K_M" of `text`.
Subject subject_in(std::string_view text) {
  static const RE2 engine(
      R"((?i)\b(vllm|sglang|(?:ik_)?llama\.cpp|ollama|lm ?studio|o?mlx(?:[-_](?:lm|vlm))?|exllama\w*|lmdeploy|trt-?llm)"
      R"(|tensorrt-?llm)\b)");
  static const RE2 with_version(R"((?i)\b([a-z][\w-]*) +v?\d+\.\d+\.\d+)"), size(R"((?i)\b(\d+(?:\.\d+)?b)\b)");
  static const RE2 quantization(
      R"((?i)(?:\b|[_-])((?:i?q|oq)\d(?:_\w+|e)?|fp8|bf16|fp16|int[48]|nvfp4|mxfp4|awq|gptq)\b)");
  const re2::StringPiece words(text.data(), text.size());
  Subject subject;
  if (!RE2::PartialMatch(words, with_version, &subject.engine)) RE2::PartialMatch(words, engine, &subject.engine);
  RE2::PartialMatch(words, size, &subject.size);
  RE2::PartialMatch(words, quantization, &subject.quantization);
  return {in_lower_case(subject.engine), in_lower_case(subject.size), in_lower_case(subject.quantization)};
}

/// False if the words around two speeds name other engines or other checkpoints.
bool may_be_compared(const Subject& one, const Subject& other) {
  const auto same = [](const std::string& a, const std::string& b) { return a.empty() || b.empty() || a == b; };
  return same(one.engine, other.engine) && same(one.size, other.size) && same(one.quantization, other.quantization);
}

/// The last bytes of what is before a number: more would take a time that is quadratic in the line.
std::string_view end_of(std::string_view front) {
  constexpr std::size_t near = 64;
  return front.substr(front.size() - std::min(near, front.size()));
}

/// The number that `pattern` finds at the end of `front`, which is cut before it; nullopt if there is none.
std::optional<double> taken_from_end(std::string_view& front, const RE2& pattern) {
  const std::string_view end = end_of(front);
  re2::StringPiece number;
  if (!RE2::PartialMatch(re2::StringPiece(end.data(), end.size()), pattern, &number)) return std::nullopt;
  if (number.data() == end.data() && end.size() < front.size()) return std::nullopt;  // it may begin before
  std::string_view digits(number.data(), number.size());
  front = front.substr(0, static_cast<std::size_t>(number.data() - front.data()));
  return take_number(digits);
}

/// The ratio that brackets after a speed state: 1.81 of "(1.81x, n=3)", 3.36 of "(+236 % speedup)".
std::optional<double> gain_behind(std::string_view behind) {
  behind = behind.substr(std::min(behind.find_first_not_of(" `*"), behind.size()));
  if (!behind.starts_with('(')) return std::nullopt;
  behind.remove_prefix(1);
  static const RE2 share("\\d[\\d.]* ?%.*");  // "85 % accepted"
  behind = behind.substr(0, behind.find(')'));
  return RE2::FullMatch(re2::StringPiece(behind.data(), behind.size()), share) ? std::nullopt : gain_in(behind);
}

/// Whether a gain is `after` / `before`, as rounded.
bool agrees(std::optional<double> gain, double before, double after) {
  constexpr double rounded = 0.02;
  return gain && std::abs(after / before - *gain) <= rounded * *gain;
}

/// Where the clause ends that `text` begins in: at a comma, or at the end of its sentence.
std::size_t end_of_clause(std::string_view text) {
  return std::min({text.find_first_of(",;"), text.starts_with('.') ? 0 : text.find(". "), text.size()});
}

/// Whether the number after `front` is part of a name: "EAGLE-3".
bool is_part_of_name(std::string_view front) {
  static const RE2 name("(?is).*[a-z]-?", RE2::Latin1);
  return RE2::FullMatch(re2::StringPiece(front.data(), front.size()), name);
}

/// The texts left and right of the group of the first match of `pattern`; nullopt if there is none.
std::optional<std::pair<std::string_view, std::string_view>> sides_of(std::string_view text, const RE2& pattern) {
  re2::StringPiece found;
  if (!RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern, &found)) return std::nullopt;
  const auto at = static_cast<std::size_t>(found.data() - text.data());
  return std::pair{text.substr(0, at), text.substr(at + found.size())};
}

/// Whether words name a change other than to speculation: "after the fix", "K=1 -> K=3: ", but not
/// "27B -> 27B MTP: ".
bool names_other_change(std::string_view text, std::string_view front) {
  static const RE2 arrow("(->|\xE2\x86\x92)");
  if (const auto sides = sides_of(front, arrow)) {
    const auto from = arm_in_text(sides->first), to = arm_in_text(sides->second);
    const bool drafts = to && !to->plain;
    if (!drafts || (from && !from->plain) || without_arm(sides->first) != without_arm(sides->second)) return true;
  }
  static const RE2 other(R"((?i)\b(?:fix\w*|after|before|patch\w*|updat\w*|commit|merge\w*|optimi\w*|upgrad\w*)\b)");
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), other);
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
  const bool several =
      (list && arm_in_text(list->second)) || RE2::PartialMatch(re2::StringPiece(front.data(), front.size()), both);
  return several ? std::nullopt : arm_in_text(front);
}

/// Whether all speeds without speculation are of one setup: they differ by at most 10 %.
bool of_one_setup(std::span<const SpokenSpeed> speeds) {
  constexpr double same = 1.1;
  double least = std::numeric_limits<double>::infinity(), most = 0.0;
  for (const SpokenSpeed& one : speeds) {
    if (!one.arm.plain) continue;
    least = std::min(least, one.tokens_per_s);
    most = std::max(most, one.tokens_per_s);
  }
  return most <= same * least;
}

/// Names the setups of speeds that come in pairs: each has one speed without speculation, all before or all after
/// those with it. False if they do not.
bool are_paired(std::span<SpokenSpeed> speeds) {
  const bool plain_first = speeds.front().arm.plain;
  std::string setup;
  std::size_t plain = 0, drafts = 0;
  const auto complete = [&] { return plain == 1 && drafts > 0; };
  bool paired = true;
  for (SpokenSpeed& one : speeds) {
    const bool begins = plain_first ? one.arm.plain : !one.arm.plain && plain > 0;
    if (begins || setup.empty()) {
      paired = paired && (setup.empty() || complete());
      setup = fmt::format("line {}", one.line);
      plain = drafts = 0;
    }
    (one.arm.plain ? plain : drafts) += 1;
    one.setup = setup;
  }
  return paired && complete();
}

/// Keeps the lines with one speed without speculation and others with it, each as a setup.
void keep_complete_lines(std::vector<SpokenSpeed>& speeds) {
  const std::vector<SpokenSpeed> all = speeds;
  std::erase_if(speeds, [&](const SpokenSpeed& one) {
    const auto same = [&](const SpokenSpeed& other) { return other.line == one.line; };
    const auto plain = [&](const SpokenSpeed& other) { return same(other) && other.arm.plain; };
    const auto of_line = std::ranges::count_if(all, same);
    return std::ranges::count_if(all, plain) != 1 || of_line < 2;
  });
  for (SpokenSpeed& one : speeds) one.setup = fmt::format("line {}", one.line);
}

/// Names the setups of a text if it has several; `changes`: each line is one. Throws RejectedRecord if its speeds do
/// not pair up, and no line has a pair.
void tell_setups(std::vector<SpokenSpeed>& speeds, bool changes) {
  const std::int64_t line = speeds.front().line;
  const bool one_line = std::ranges::all_of(speeds, [&](const SpokenSpeed& one) { return one.line == line; });
  if (of_one_setup(speeds) && (one_line || !changes)) return;
  if (!changes && are_paired(speeds)) return;
  keep_complete_lines(speeds);
  if (!speeds.empty()) return;
  reject({.line = line,
          .text = "speeds without speculation that differ",
          .why = "of which setups are they?",
          .suggestion = "write a table with the columns model, config and tok/s, or a file for each setup"});
}

/// Drops speeds that no other may be compared with, and returns the first. Throws RejectedRecord if that are all.
std::optional<SpokenSpeed> drop_others(std::vector<SpokenSpeed>& speeds) {
  const std::vector<SpokenSpeed> all = speeds;
  const auto is_alone = [&](const SpokenSpeed& one) {
    return std::ranges::none_of(all, [&](const SpokenSpeed& other) {
      return one.arm.plain != other.arm.plain && may_be_compared(one.subject, other.subject);
    });
  };
  const auto first = std::ranges::find_if(all, is_alone);
  const auto plain = std::ranges::count_if(all, [](const SpokenSpeed& one) { return one.arm.plain; });
  if (first == all.end() || plain == 0 || plain == std::ssize(all)) return std::nullopt;
  std::erase_if(speeds, is_alone);
  if (!speeds.empty()) return *first;
  reject({.line = first->line,
          .text = "speeds with and without speculation",
          .why = "of several engines or checkpoints, so their ratio is not that of speculation",
          .suggestion = "give both speeds of one engine and one checkpoint"});
}

class ProseReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override;
  void finish(LogContents& contents) override;

 private:
  /// A speed in a line (of a range its middle), and the speeds that belong to it.
  struct Place {
    std::size_t begin, end;
    double value;
    std::optional<double> before;  ///< the speed before a change
    std::optional<double> versus;  ///< the one that it is compared with: "350 vs 180 tok/s"
  };
  [[nodiscard]] static std::vector<Place> places_in(std::string_view text);
  void note(std::string_view text, std::int64_t number, const Place& place, std::optional<Arm> arm,
            std::string_view behind, bool other);
  void note_compared(std::int64_t number, const Place& place, std::string_view front, bool other);
  void note_length(std::string_view text, std::int64_t number);
  void add_plain();
  void tell_unused(LogContents& contents) const;

  std::vector<Observation> lengths_ = {};  ///< acceptance lengths, of texts that state no others
  std::vector<SpokenSpeed> speeds_ = {};
  std::vector<UnnamedChange> unnamed_ = {};
  std::optional<SpokenSpeed> first_unused_ = {};  ///< no words say whether it is with speculation
  bool changes_ = false;                          ///< some speeds are those of a change
  std::string compares_ = {};                     ///< the last line that compares arms, without speeds
};

std::vector<ProseReader::Place> ProseReader::places_in(std::string_view text) {
  static const RE2 speed{std::string(spoken_speed)};
  static const RE2 before("(?:^|[^\\w.,])(\\d[\\d.,]*)[`* ]*(?:->|\xE2\x86\x92)[ ~`*]*$");
  static const RE2 compared(R"((?i)(?:^|[ (:~*`])(\d[\d.,]*)[`* ]*(?:vs\.?|versus) [~`* ]*$)");
  static const RE2 range("(?:^|[^\\w.,-])(\\d[\\d.,]*) ?(?:-|\xE2\x80\x93) ?$");
  std::vector<Place> places;
  const re2::StringPiece all(text.data(), text.size());
  re2::StringPiece found;
  for (std::size_t at = 0; speed.Match(all, at, all.size(), RE2::UNANCHORED, &found, 1);) {
    const auto begin = static_cast<std::size_t>(found.data() - text.data());
    at = begin + found.size();
    std::string_view digits = text.substr(begin), front = text.substr(0, begin);
    if (is_part_of_name(end_of(front))) continue;
    auto value = take_number(digits);
    if (!value || !(*value > 0.0)) continue;
    const auto low = taken_from_end(front, range);
    if (low && *low < *value) value = 0.5 * (*low + *value);
    auto first = taken_from_end(front, before);
    if (!places.empty() && is_change(text.substr(places.back().end, front.size() - places.back().end))) {
      first = places.back().value;
      front = text.substr(0, places.back().begin);
      places.pop_back();
    }
    const auto versus = first ? std::nullopt : taken_from_end(front, compared);
    places.push_back({.begin = front.size(), .end = at, .value = *value, .before = first, .versus = versus});
  }
  return places;
}

/// The arm of a speed is that of the brackets after it; else of the words before it, up to a comma or to what names the
/// previous speed's; else of the clause after it; else, right after a comma, of the words before that.
bool ProseReader::line(std::string_view text, std::int64_t number, LogContents& /*contents*/) {
  if (text.size() > max_spoken_line || text.find_first_of("|\t") != std::string_view::npos ||
      speeds_.size() + unnamed_.size() >= max_spoken)
    return false;
  const std::vector<Place> places = places_in(text);
  if (places.empty() && text.find(" vs") != std::string_view::npos) compares_ = text;
  const std::size_t before = speeds_.size() + unnamed_.size() + lengths_.size(), first = speeds_.size();
  note_length(text, number);
  std::size_t used = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::size_t from = i == 0 ? 0 : std::max(used, places[i - 1].end);
    const std::size_t to = i + 1 < places.size() ? places[i + 1].begin : text.size();
    const std::string_view words = text.substr(from, places[i].begin - from);
    const std::string_view sentence = words.substr(words.rfind(". ") == words.npos ? 0 : words.rfind(". ") + 1);
    const std::string_view front = words.substr(words.find_last_of(",;") + 1);
    const std::string_view behind = text.substr(places[i].end, to - places[i].end);
    if (places[i].versus) {
      note_compared(number, places[i], front, names_other_speed(words));
      continue;
    }
    constexpr std::size_t few = 12;  // "I get about"
    auto arm = arm_in_brackets(behind);
    if (!arm) arm = arm_in_text(front);
    if (!arm) {
      const std::size_t clause = end_of_clause(behind);
      arm = arm_in_text(behind.substr(0, clause));
      if (arm) used = places[i].end + clause;
    }
    if (!arm && trimmed(front).size() <= few && !names_other_speed(front))
      arm = arm_in_text(sentence.substr(0, sentence.find_last_of(",;")));
    const std::size_t noted = speeds_.size();
    note(text, number, places[i], arm, behind, names_other_speed(words));
    const Subject subject = subject_in(
        places.size() == 1 ? std::string(text) : fmt::format("{} {}", front, behind.substr(0, end_of_clause(behind))));
    for (SpokenSpeed& one : std::span(speeds_).subspan(noted)) one.subject = subject;
  }
  for (SpokenSpeed& one : std::span(speeds_).subspan(first)) one.load = spoken_load(text);
  return speeds_.size() + unnamed_.size() + lengths_.size() > before;
}

/// `other`: the words before it name another speed, such as a prompt's.
void ProseReader::note(std::string_view text, std::int64_t number, const Place& place, std::optional<Arm> arm,
                       std::string_view behind, bool other) {
  const auto gain = gain_behind(behind);
  if (!arm && !other && place.before && !compares_.empty() && agrees(gain, *place.before, place.value))
    arm = arm_in_text(std::string_view(compares_).substr(0, compares_.find(" vs")));
  if (!arm || (place.before && (arm->plain || names_other_change(text, text.substr(0, place.begin))))) {
    if (!other && !first_unused_) first_unused_ = SpokenSpeed{.line = number, .tokens_per_s = place.value};
    if (other || !(place.before || gain)) return;
    const double plain = place.before ? *place.before : place.value / *gain;
    unnamed_.push_back({.line = number, .before = plain, .after = place.value});
    return;
  }
  changes_ = changes_ || place.before;
  if (place.before) speeds_.push_back({.line = number, .arm = {.plain = true}, .tokens_per_s = *place.before});
  speeds_.push_back({.line = number, .arm = *arm, .tokens_per_s = place.value});
  if (arm->plain) return;
  speeds_.back().rate = spoken_rate(text);
  speeds_.back().gain = gain;
}

/// "Disabling MTP restores (350 vs 180 tok/s)": the words before them name the first.
void ProseReader::note_compared(std::int64_t number, const Place& place, std::string_view front, bool other) {
  const auto arm = arm_of_first(front);
  if (other) return;
  if (!arm) {
    unnamed_.push_back({.line = number, .before = *place.versus, .after = place.value});
    return;
  }
  const Arm second{.plain = !arm->plain, .speculative = arm->plain};
  speeds_.push_back({.line = number, .arm = *arm, .tokens_per_s = *place.versus});
  speeds_.push_back({.line = number, .arm = second, .tokens_per_s = place.value});
}

/// "DFlash: mean acceptance length ~3.3": of a range its middle; not of lines that compare several.
void ProseReader::note_length(std::string_view text, std::int64_t number) {
  static const RE2 length(
      "(?i)accept(?:ance|ed)?[ -]len(?:gth)?\\b[^\\n\\d|]{0,16}(\\d+\\.\\d+)(?:(?: ?(?:-|\xE2\x80\x93) ?| to "
      ")(\\d+\\.\\d+))?");
  const re2::StringPiece words(text.data(), text.size());
  static const RE2 several("(?i)->|\xE2\x86\x92|\\bvs\\b|metrics:|length[^\\n]*=");
  std::string low, high;
  if (!RE2::PartialMatch(words, length, &low, &high) || RE2::PartialMatch(words, several)) return;
  if (lengths_.size() > 1) return;  // of which none is read
  std::string_view first = low, last = high;
  const double lowest = take_number(first).value_or(0.0), highest = take_number(last).value_or(lowest);
  if (!(lowest >= 1.0 && highest >= lowest)) return;
  const auto arm = arm_in_text(text.substr(0, text.find(low)));
  if (arm && arm->plain) return;
  lengths_.push_back({.line = number,
                      .span = Span::run,
                      .decoding = Decoding::speculative,
                      .gamma = arm ? whole(arm->gamma) : std::nullopt,
                      .drafter = arm ? arm->drafter : std::nullopt,
                      .acceptance_length = 0.5 * (lowest + highest)});
}

/// Computes speeds without speculation from gains, if none is stated.
void ProseReader::add_plain() {
  if (std::ranges::any_of(speeds_, [](const SpokenSpeed& one) { return one.arm.plain; })) return;
  for (std::size_t i = 0; i < speeds_.size(); ++i) {
    if (!speeds_[i].gain) continue;
    const SpokenSpeed plain{
        .line = speeds_[i].line, .arm = {.plain = true}, .tokens_per_s = speeds_[i].tokens_per_s / *speeds_[i].gain};
    speeds_.insert(speeds_.begin() + static_cast<std::ptrdiff_t>(i++), plain);
  }
}

void ProseReader::tell_unused(LogContents& contents) const {
  if (!first_unused_) return;
  warn_once(contents, "W18", first_unused_->line,
            fmt::format("{:.4g} tok/s is not used: no words beside it say whether it is with speculation",
                        first_unused_->tokens_per_s));
}

void ProseReader::finish(LogContents& contents) {
  const bool drafts = std::ranges::any_of(speeds_, [](const SpokenSpeed& one) { return !one.arm.plain; });
  const bool both = drafts && std::ranges::any_of(speeds_, [](const SpokenSpeed& one) { return one.arm.plain; });
  const bool told = std::ranges::any_of(contents.observations, [&](const Observation& other) {
    const bool only_accepts = contents.format == "key-values prose" || contents.format == "prose key-values";
    return other.decoding != Decoding::unknown && !(both && only_accepts);
  });
  if (!drafts && !unnamed_.empty() && contents.observations.empty()) {
    const UnnamedChange& first = unnamed_.front();
    reject({.line = first.line,
            .text = fmt::format("{:.4g} and {:.4g} tok/s", first.before, first.after),
            .why = "which is with speculation?",
            .suggestion = fmt::format("write \"{:.4g} tok/s without speculation, {:.4g} tok/s with speculation\"",
                                      first.before, first.after)});
  }
  if (contents.observations.empty() && speeds_.empty() && lengths_.size() == 1 && contents.format == "prose") {
    contents.observations = std::exchange(lengths_, {});
    tell_unused(contents);
    return;
  }
  if (told || speeds_.empty()) {  // the words around a log
    static const RE2 name(" ?\\bprose\\b");
    RE2::Replace(&contents.format, name, "");
    contents.format = std::string(trimmed(contents.format));
    return;
  }
  add_plain();
  if (const auto other = drop_others(speeds_)) {
    warn_once(contents, "W18", other->line,
              fmt::format("{:.4g} tok/s is not used: of another engine or checkpoint", other->tokens_per_s));
  }
  tell_setups(speeds_, changes_);
  std::string read_as;
  for (const SpokenSpeed& one : speeds_) {
    StatedRun run{.line = one.line, .gamma = one.arm.gamma, .rate = one.rate, .concurrency = one.load};
    (one.load ? run.output_tokens_per_s : run.request_tokens_per_s) = one.tokens_per_s;
    Observation observation = observation_of(run, one.arm.plain ? Decoding::plain : Decoding::speculative, contents);
    if (!one.arm.plain) observation.drafter = one.arm.drafter;
    if (!one.setup.empty()) observation.stratum.category = one.setup;
    contents.observations.push_back(std::move(observation));
    constexpr std::size_t enough = 200;
    if (read_as.size() < enough)
      read_as += fmt::format("{}line {} = {:.4g} tok/s {} speculation", read_as.empty() ? "" : "; ", one.line,
                             one.tokens_per_s, one.arm.plain ? "without" : "with");
  }
  warn_once(contents, "W22", speeds_.front().line, "read as: " + read_as);
  tell_unused(contents);
}

}  // namespace

LineFormat prose_format() { return lines_of<ProseReader>(prose_anchor); }

}  // namespace foredraft::logs
