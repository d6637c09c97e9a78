// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/formats.hpp"
#include "logs/headings.hpp"
#include "logs/line_fields.hpp"
#include "logs/stated_run.hpp"

/// Text that names arms and their speeds: "baseline: 31 tok/s", "I get 52 t/s with MTP, 31 t/s without it". It counts
/// only where nothing else of the file says whether it speculates.
namespace foredraft::logs {
namespace {

/// A number and its unit.
constexpr std::string_view spoken_speed =
    R"((?i)\d[\d.,]*[`* ]*(?:t(?:o?ks?|oken|okens)?(?:/|[- ]per[- ])s(?:ec|econd)?|tps)\b)";

/// More are not those of a text.
constexpr std::size_t max_spoken = 1000;

/// What is said of one speed.
struct SpokenSpeed {
  std::int64_t line = 0;
  Arm arm = {};
  double tokens_per_s = 0.0;
  std::optional<double> rate = {};
  std::string setup = {};  ///< of several in one text: its line
};

/// "85.2 % acceptance", "accept 0.71", "accept 72-85 %", as a fraction.
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

/// The arm of words in brackets behind a speed: "38 t/s (without draft)".
std::optional<Arm> arm_in_brackets(std::string_view behind) {
  behind = trimmed(behind);
  if (!behind.starts_with('(')) return std::nullopt;
  return arm_in_text(behind.substr(0, behind.find(')')));
}

/// Whether two speeds are those before and after something: "38 t/s to 29 t/s".
bool is_change(std::string_view between) {
  static const RE2 change("(?i)[ `*]*(?:to|->|\xE2\x86\x92)[ ~`*]*");
  return RE2::FullMatch(re2::StringPiece(between.data(), between.size()), change);
}

/// Where the clause ends that `text` begins in: at a comma, or at the end of its sentence.
std::size_t end_of_clause(std::string_view text) {
  return std::min({text.find_first_of(",;"), text.starts_with('.') ? 0 : text.find(". "), text.size()});
}

/// Whether the number behind `front` is part of a name or the second of a change: "EAGLE-3", "11.7 -> 21.2".
bool is_other_number(std::string_view front) {
  static const RE2 other("(?is).*(?:[a-z]-?|\\d[`* ]*(?:->|\xE2\x86\x92)[ ~`*]*)", RE2::Latin1);
  return RE2::FullMatch(re2::StringPiece(front.data(), front.size()), other);
}

/// Whether speeds without speculation are of one setup: they hardly differ.
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

/// Tells the setups of a text apart: each has one speed without speculation, all before or all behind those with it.
/// Throws RejectedRecord where they do not pair so.
void tell_setups(std::span<SpokenSpeed> speeds) {
  if (of_one_setup(speeds)) return;
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
  if (paired && complete()) return;
  reject({.line = speeds.front().line,
          .text = "speeds without speculation that differ",
          .why = "of which setups are they?",
          .suggestion = "write a table with the columns model, config and tok/s, or a file for each setup"});
}

class ProseReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override;
  void finish(LogContents& contents) override;

 private:
  std::vector<SpokenSpeed> speeds_ = {};
};

/// Each speed has the words before it up to a comma or another speed, else those after it in its sentence, else, right
/// behind a comma, those before that.
bool ProseReader::line(std::string_view text, std::int64_t number, LogContents& /*contents*/) {
  if (text.find_first_of("|\t") != std::string_view::npos || speeds_.size() >= max_spoken) return false;  // a table
  static const RE2 speed{std::string(spoken_speed)};
  struct Place {
    std::size_t begin, end;
    double value;
  };
  std::vector<Place> places;
  const re2::StringPiece all(text.data(), text.size());
  re2::StringPiece found;
  for (std::size_t at = 0; speed.Match(all, at, all.size(), RE2::UNANCHORED, &found, 1);) {
    const auto begin = static_cast<std::size_t>(found.data() - text.data());
    at = begin + found.size();
    std::string_view digits = text.substr(begin);
    if (is_other_number(text.substr(0, begin))) continue;
    if (const auto value = take_number(digits); value && *value > 0.0)
      places.push_back({.begin = begin, .end = at, .value = *value});
  }
  const std::size_t before = speeds_.size();
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::size_t from = i == 0 ? 0 : places[i - 1].end;
    const std::size_t to = i + 1 < places.size() ? places[i + 1].begin : text.size();
    std::string_view front = text.substr(from, places[i].begin - from);
    const std::string_view sentence = front.substr(front.rfind(". ") == front.npos ? 0 : front.rfind(". ") + 1);
    front.remove_prefix(front.find_last_of(",;") + 1);
    const std::string_view behind = text.substr(places[i].end, to - places[i].end);
    const bool changed =
        (i > 0 && is_change(text.substr(from, places[i].begin - from))) || (i + 1 < places.size() && is_change(behind));
    auto arm = arm_in_brackets(behind);
    if (!arm && changed) continue;
    if (!arm) arm = arm_in_text(front);
    if (!arm) arm = arm_in_text(behind.substr(0, end_of_clause(behind)));
    if (!arm && trimmed(front).empty()) arm = arm_in_text(sentence.substr(0, sentence.find_last_of(",;")));
    if (!arm) continue;
    speeds_.push_back({.line = number, .arm = *arm, .tokens_per_s = places[i].value});
    if (!arm->plain) speeds_.back().rate = spoken_rate(text);
  }
  return speeds_.size() > before;
}

void ProseReader::finish(LogContents& contents) {
  const bool told = std::ranges::any_of(contents.observations,
                                        [](const Observation& other) { return other.decoding != Decoding::unknown; });
  if (told) {  // the words around a log
    static const RE2 name(" ?\\bprose\\b");
    RE2::Replace(&contents.format, name, "");
    contents.format = std::string(trimmed(contents.format));
    return;
  }
  tell_setups(speeds_);
  std::string read_as;
  for (const SpokenSpeed& one : speeds_) {
    const StatedRun run{
        .line = one.line, .gamma = one.arm.gamma, .rate = one.rate, .request_tokens_per_s = one.tokens_per_s};
    Observation observation = observation_of(run, one.arm.plain ? Decoding::plain : Decoding::speculative, contents);
    if (!one.arm.plain) observation.drafter = one.arm.drafter;
    if (!one.setup.empty()) observation.stratum.category = one.setup;
    contents.observations.push_back(std::move(observation));
    constexpr std::size_t enough = 200;
    if (read_as.size() < enough)
      read_as += fmt::format("{}line {} = {} tok/s {} speculation", read_as.empty() ? "" : "; ", one.line,
                             one.tokens_per_s, one.arm.plain ? "without" : "with");
  }
  warn_once(contents, "W22", speeds_.front().line, "read as: " + read_as);
}

}  // namespace

LineFormat prose_format() { return lines_of<ProseReader>(spoken_speed); }

}  // namespace foredraft::logs
