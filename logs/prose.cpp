// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/arms.hpp"
#include "logs/captions.hpp"
#include "logs/expectations.hpp"
#include "logs/formats.hpp"
#include "logs/labeled_speeds.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/sentences.hpp"
#include "logs/spoken_keys.hpp"
#include "logs/spoken_numbers.hpp"
#include "logs/spoken_setups.hpp"
#include "logs/stated_run.hpp"

/// Text that names arms and their speeds: "baseline: 31 tok/s", "I get 52 t/s with MTP, 31 t/s without it". It is
/// read only if nothing else in the file says whether a run speculates, or it has both arms and the rest only one.
namespace foredraft::logs {
namespace {

/// Maximum number of speeds that are read: text has fewer.
constexpr std::size_t max_spoken = 1000;
/// Maximum length of a line that is read, in bytes: a paragraph is shorter.
constexpr std::size_t max_spoken_line = std::size_t{1} << 14U;

/// Maximum draft length that is taken for one.
constexpr double max_gamma = 64.0;

/// Whether bars part a line into arms with their speeds, "plain: 20 t/s | MTP: 40 t/s": it is no row of a table.
bool is_parted(std::string_view text) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('|', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    const std::vector<ArmPhrase> arms = arm_phrases(part);
    if (arms.empty() || spoken_places(part, arms).size() != 1) return false;
    begin = end + 1;
  }
  return true;
}

/// The ratio of speeds that words state without them: 1.26 of "speedup over regular decoding with MTP: 1.26x", 0.7 of
/// "MTP has 70 % of the throughput without it".
std::optional<double> ratio_in_words(std::string_view text) {
  static const RE2 ahead(R"((?i)\bspeed-?up\b[^.\n|]{0,60}?\b(\d+(?:\.\d+)?) ?(?:x|\x{d7})(?:[^\w]|$))");
  static const RE2 behind(
      R"((?i)\b(\d+(?:\.\d+)?) ?(?:x|\x{d7}) (?:speed-?up|faster|as fast|the (?:speed|throughput))\b)");
  static const RE2 share(R"((?i)(\d+(?:\.\d+)?) ?% of (?:[a-z]+ ){0,5}(?:without|baseline|plain|no[- ]spec)\b)");
  const re2::StringPiece words = piece(text);
  double ratio = 0.0;
  if (!RE2::PartialMatch(words, ahead, &ratio) && !RE2::PartialMatch(words, behind, &ratio)) {
    if (!RE2::PartialMatch(words, share, &ratio)) return std::nullopt;
    ratio /= 100.0;
  }
  const std::vector<ArmPhrase> arms = arm_phrases(text);
  const bool drafts = std::ranges::any_of(arms, [](const ArmPhrase& one) { return !one.is_plain(); });
  return drafts && ratio > 0.0 ? std::optional(ratio) : std::nullopt;
}

/// Whether lengths can be told apart: a single one, of which the words do not matter, or those of a list, one a line,
/// of other arms or behind other words.
bool tell_lengths(std::span<Observation> lengths) {
  const auto is_broken = [](const Observation& one, const Observation& next) { return next.line != one.line + 1; };
  if (lengths.empty() || std::ranges::adjacent_find(lengths, is_broken) != lengths.end()) return false;
  std::set<std::string> words;
  std::set<std::pair<std::optional<std::int64_t>, std::optional<std::string>>> arms;
  for (const Observation& one : lengths) {
    words.insert(*one.stratum.category);
    arms.emplace(one.gamma, one.drafter);
  }
  if (arms.size() < lengths.size()) return words.size() == lengths.size();
  for (Observation& one : lengths) one.stratum.category.reset();
  return true;
}

/// Whether all runs of a log whose arm is known have the same.
bool has_one_arm(std::span<const Observation> runs) {
  const auto is = [&](Decoding decoding) {
    return std::ranges::any_of(runs, [&](const Observation& one) { return one.decoding == decoding; });
  };
  return is(Decoding::plain) != is(Decoding::speculative);
}

class ProseReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override;
  bool line_below(std::string_view above, std::string_view text, std::int64_t number, LogContents& contents) override;
  void finish(LogContents& contents) override;
  void finish_alone(LogContents& contents) override;

 private:
  void note_length(std::string_view text, std::int64_t number);
  bool note_length_of_run(double length, std::int64_t number);
  void add_plain();
  [[nodiscard]] bool are_labeled() const;
  void leave_out(std::span<const SpokenSpeed> speeds, std::string_view why);
  void leave_out_unnamed();
  void leave_out_ratios();
  void tell_unused(LogContents& contents) const;

  std::string label_ = {};                 ///< that names the arm of the speeds right below it: "## MTP", "baseline:"
  std::int64_t last_below_ = 0;            ///< the last line with one of them
  std::int64_t below_expected_ = 0;        ///< the last line of those right below "Expected:"; 0: the last is none
  std::vector<Observation> lengths_ = {};  ///< acceptance lengths, each with the words before it as its category
  bool is_exact_length_ = false;           ///< of the last one: no range
  std::pair<std::int64_t, std::string> range_ = {};  ///< line and text of the first that is none
  std::vector<SpokenSpeed> speeds_ = {};
  std::vector<LabeledSpeed> labeled_ = {};  ///< of lines with one speed
  std::vector<UnnamedChange> unnamed_ = {};
  std::vector<SpokenSpeed> expected_ = {};                    ///< nobody measured them
  std::vector<SpokenSpeed> unnamed_speeds_ = {};              ///< no words say whether they are with speculation
  std::vector<std::pair<std::int64_t, double>> ratios_ = {};  ///< lines and numbers of those stated without speeds
  std::int64_t first_unused_ = 0;                             ///< its line
  std::string unused_ = {};                                   ///< what is not used, and why
  std::string compares_ = {};   ///< the last line that compares arms or tells_effect(), without speeds
  bool may_be_of_all_ = false;  ///< SpokenLine::may_be_of_all of some line
};

bool ProseReader::line(std::string_view text, std::int64_t number, LogContents& /*contents*/) {
  if (text.size() > max_spoken_line || speeds_.size() + unnamed_.size() >= max_spoken) return false;
  const std::string with_words = with_spoken_keys(text);
  text = with_words;
  std::string parted;
  if (text.find('|') != std::string_view::npos && is_parted(text)) {
    parted = text;
    std::ranges::replace(parted, '|', ';');
    text = parted;
  }
  const bool is_row = text.find_first_of("|\t") != std::string_view::npos;
  SpokenLine spoken = is_row ? SpokenLine{} : spoken_line(text, number, compares_);
  if (number == below_expected_) {
    std::ranges::move(std::exchange(spoken.speeds, {}), std::back_inserter(spoken.expected));
    spoken.unnamed.clear();
  }
  const bool is_expected = !spoken.expected.empty();
  if (expected_.size() < max_spoken) std::ranges::move(spoken.expected, std::back_inserter(expected_));
  if (auto one = is_expected ? std::nullopt : labeled_speed(with_words, number); one && labeled_.size() < max_spoken)
    labeled_.push_back(*std::move(one));
  if (is_row) return false;
  may_be_of_all_ = may_be_of_all_ || spoken.may_be_of_all;
  const bool compares = text.find(" vs") != std::string_view::npos || tells_effect(text);
  if (spoken.speeds.empty() && spoken.unnamed.empty() && compares) compares_ = text;
  const std::size_t before = speeds_.size() + unnamed_.size() + lengths_.size();
  if (!is_expected) note_length(text, number);
  const bool may_be_ratio = spoken.speeds.empty() && spoken.unnamed.empty() && ratios_.size() < max_spoken;
  const auto ratio = may_be_ratio ? ratio_in_words(text) : std::nullopt;
  if (ratio) ratios_.emplace_back(number, *ratio);
  for (SpokenSpeed& speed : spoken.speeds) {
    (speed.arm ? speeds_ : unnamed_speeds_).push_back(std::move(speed));
  }
  std::ranges::move(spoken.unnamed, std::back_inserter(unnamed_));
  return speeds_.size() + unnamed_.size() + lengths_.size() > before || ratio.has_value() || is_expected;
}

/// A speed alone, or beside words of what it measures, has the arm of the line above: "## MTP", "31 tok/s".
bool ProseReader::line_below(std::string_view above, std::string_view text, std::int64_t number,
                             LogContents& contents) {
  static const RE2 alone(
      R"((?i)[^\w\d]*(?:[a-z][a-z ]{0,30}(?:\([a-z ]{1,20}\))?[ `*]*[:=])?[ `*~]*[\d.,]+(?: ?(?:-|to|\x{2013}) ?[\d.,]+)?[ `*]*)" +
      std::string(spoken_unit) + R"([ `*.]*(?:\([^()]*\))?[\s`*.]*)");
  static const RE2 marks(R"(^[\s#>*_-]+|[\s:*_]+$)");
  below_expected_ = is_above_expected(above) || (below_expected_ > 0 && number == below_expected_ + 1) ? number : 0;
  if (!RE2::FullMatch(piece(text), alone) || !arm_phrases(text).empty()) return line(text, number, contents);
  if (const auto arm = arm_in_caption(above)) {
    label_ = above;
    RE2::GlobalReplace(&label_, marks, "");
    std::ranges::replace(label_, ',', ' ');  // one clause: "assisted (K=3, greedy)"
  } else if (number != last_below_ + 1) {
    label_.clear();
  }
  last_below_ = number;
  return line(label_.empty() ? std::string(text) : fmt::format("{}: {}", label_, trimmed(text)), number, contents);
}

/// The length of a line, and the arm that the words before it name: "DFlash: mean acceptance length ~3.3".
void ProseReader::note_length(std::string_view text, std::int64_t number) {
  const auto length = spoken_length(text);
  if (!length || lengths_.size() >= max_spoken) return;
  if (!labeled_.empty() && labeled_.back().line == number) return;
  const std::string_view ahead = text.substr(0, length->begin);
  auto arm = arm_in_text(ahead);
  if (!arm && length->is_exact && note_length_of_run(length->value, number)) return;
  if (arm && arm->plain && arm_phrases(ahead).back().is_plain()) return;
  if (arm && arm->plain) arm.reset();  // "over regular decoding with MTP"
  static const RE2 marks(R"(^[\s>#+_-]+|[*`]+|[\s_]+$)");
  std::string words(ahead.substr(0, ahead.find(": ")));
  RE2::GlobalReplace(&words, marks, "");
  lengths_.push_back({.line = number,
                      .span = Span::run,
                      .decoding = Decoding::speculative,
                      .gamma = arm ? whole(arm->gamma) : std::nullopt,
                      .drafter = arm ? arm->drafter : std::nullopt,
                      .acceptance_length = length->value,
                      .stratum = {.category = std::string(trimmed(words))}});
  is_exact_length_ = length->is_exact;
  if (!length->is_exact && range_.first == 0)
    range_ = {number, std::string(text.substr(length->begin, length->end - length->begin))};
}

/// Gives a length that a line of its own states to the run of the speed above it, which is in no list of speeds. False
/// if there is none.
bool ProseReader::note_length_of_run(double length, std::int64_t number) {
  constexpr std::int64_t lines_of_run = 4;  // that scripts print one below the other
  const auto is_run = [&](const auto& speeds) {
    const std::size_t count = speeds.size();
    return count > 0 && !speeds.back().length && number - speeds.back().line <= lines_of_run &&
           (count == 1 || speeds[count - 2].line < speeds.back().line - 1);
  };
  const bool of_label = is_run(labeled_) && !labeled_.back().arm;
  const bool of_speed = is_run(speeds_) && !speeds_.back().arm->plain;
  if (of_label) labeled_.back().length = length;
  if (of_speed) speeds_.back().length = length;
  return of_label || of_speed;
}

/// Computes speeds without speculation from gains, if none is stated.
void ProseReader::add_plain() {
  if (std::ranges::any_of(speeds_, [](const SpokenSpeed& one) { return one.arm->plain; })) return;
  for (std::size_t i = 0; i < speeds_.size(); ++i) {
    if (!speeds_[i].gain) continue;
    const SpokenSpeed plain{
        .line = speeds_[i].line, .arm = Arm{.plain = true}, .tokens_per_s = speeds_[i].tokens_per_s / *speeds_[i].gain};
    speeds_.insert(speeds_.begin() + static_cast<std::ptrdiff_t>(i++), plain);
  }
}

void ProseReader::leave_out(std::span<const SpokenSpeed> speeds, std::string_view why) {
  if (speeds.empty()) return;
  constexpr std::size_t enough = 5;
  std::string values;
  for (const SpokenSpeed& one : speeds.first(std::min(enough, speeds.size())))
    values += fmt::format("{}{:.4g}", values.empty() ? "" : ", ", one.tokens_per_s);
  if (unused_.empty()) first_unused_ = speeds.front().line;
  unused_ += fmt::format("{}{}{} tok/s {} not used: {}", unused_.empty() ? "" : "; ", values,
                         speeds.size() > enough ? ", .." : "", speeds.size() == 1 ? "is" : "are", why);
}

void ProseReader::leave_out_unnamed() {
  leave_out(expected_, "expected, not measured");
  leave_out(unnamed_speeds_, unnamed_speeds_.size() == 1
                                 ? "no words beside it say whether it is with speculation"
                                 : "no words beside them say whether they are with speculation");
}

void ProseReader::leave_out_ratios() {
  if (ratios_.empty()) return;
  constexpr std::size_t enough = 5;
  std::string values;
  for (const auto& one : std::span(ratios_).first(std::min(enough, ratios_.size())))
    values += fmt::format("{}{:.4g}x", values.empty() ? "" : ", ", one.second);
  first_unused_ = ratios_.front().first;
  unused_ = fmt::format("{}{} {} not used: the speeds are not stated", values, ratios_.size() > enough ? ", .." : "",
                        ratios_.size() == 1 ? "is" : "are");
}

void ProseReader::tell_unused(LogContents& contents) const {
  if (!unused_.empty()) warn_once(contents, "W18", first_unused_, unused_);
}

/// Whether each speed is alone in its line and has a label, which has all arms of the text.
bool ProseReader::are_labeled() const {
  const auto has = [&](const std::string& label, bool plain) {
    return std::ranges::any_of(
        labeled_, [&](const LabeledSpeed& one) { return one.label == label && one.arm && one.arm->plain == plain; });
  };
  return std::ranges::all_of(speeds_, [&](const SpokenSpeed& speed) {
    const auto one = std::ranges::find(labeled_, speed.line, &LabeledSpeed::line);
    const auto is_other = [&](const SpokenSpeed& other) { return other.arm->plain != speed.arm->plain; };
    return one != labeled_.end() && one->arm && !one->label.empty() &&
           (std::ranges::none_of(speeds_, is_other) || has(one->label, !speed.arm->plain));
  });
}

/// Speeds of which a label tells the prompts; of all, or of each label, those with speculation may be in another file.
void ProseReader::finish_alone(LogContents& contents) {
  for (const LabeledSpeed& one : without_repeated(labeled_)) {
    StatedRun run{.line = one.line,
                  .gamma = one.arm ? one.arm->gamma : std::nullopt,
                  .length = one.length,
                  .request_tokens_per_s = one.tokens_per_s};
    const Decoding decoding = !one.arm ? Decoding::unknown : one.arm->plain ? Decoding::plain : Decoding::speculative;
    Observation observation = observation_of(run, decoding, contents);
    if (one.arm && !one.arm->plain) observation.drafter = one.arm->drafter;
    if (!one.label.empty()) observation.stratum.category = one.label;
    contents.observations.push_back(std::move(observation));
  }
}

void ProseReader::finish(LogContents& contents) {
  const auto is_speed = [](const SpokenSpeed& one) { return !one.is_time; };
  if (std::ranges::any_of(speeds_, is_speed)) std::erase_if(speeds_, std::not_fn(is_speed));
  const auto is_typical = [](const SpokenSpeed& one) { return !one.arm->plain && !one.is_most; };
  if (std::ranges::any_of(speeds_, is_typical))
    leave_out(taken_out(speeds_, [](const SpokenSpeed& one) { return one.is_most; }), "a maximum");
  const bool drafts = std::ranges::any_of(speeds_, [](const SpokenSpeed& one) { return !one.arm->plain; });
  const bool both = drafts && std::ranges::any_of(speeds_, [](const SpokenSpeed& one) { return one.arm->plain; });
  const bool only_accepts = contents.format == "key-values prose" || contents.format == "prose key-values";
  const bool of_log = !contents.observations.empty() && !only_accepts;
  const auto is_known = [](const Observation& one) { return one.decoding != Decoding::unknown; };
  const bool told =
      std::ranges::any_of(contents.observations, is_known) && !(both && has_one_arm(contents.observations));
  if (!drafts && !unnamed_.empty() && contents.observations.empty()) {
    const UnnamedChange& first = unnamed_.front();
    reject({.line = first.line,
            .text = fmt::format("{:.4g} and {:.4g} tok/s", first.before, first.after),
            .why = "which is with speculation?",
            .suggestion = fmt::format("write \"{:.4g} tok/s without speculation, {:.4g} tok/s with speculation\"",
                                      first.before, first.after)});
  }
  if (contents.observations.empty() && speeds_.empty() && tell_lengths(lengths_) && contents.format == "prose") {
    contents.observations = std::exchange(lengths_, {});
    if (range_.first > 0) warn_of_range(range_.second, range_.first, contents);
    leave_out_ratios();
    leave_out_unnamed();
    tell_unused(contents);
    return;
  }
  if (contents.observations.empty() && speeds_.empty() && !ratios_.empty() && contents.format == "prose") {
    reject({.line = ratios_.front().first,
            .text = fmt::format("{:.4g}x", ratios_.front().second),
            .why = "of which speeds?",
            .suggestion = "write them with their unit: \"20 tok/s without speculation, 30 tok/s with speculation\""});
  }
  if (contents.observations.empty() && speeds_.empty() && !expected_.empty() && contents.format == "prose") {
    reject({.line = expected_.front().line,
            .text = fmt::format("{:.4g} tok/s", expected_.front().tokens_per_s),
            .why = "expected, not measured",
            .suggestion = "write \"20 tok/s without speculation, 30 tok/s with speculation\" of what was measured"});
  }
  if (told || speeds_.empty()) {  // the words around a log
    static const RE2 name(" ?\\bprose\\b");
    RE2::Replace(&contents.format, name, "");
    contents.format = std::string(trimmed(contents.format));
    return;
  }
  add_plain();
  leave_out(drop_others(speeds_), "of another engine or checkpoint");
  leave_out(keep_only_list(speeds_), "not in the list of runs");
  const bool changes = std::ranges::any_of(speeds_, &SpokenSpeed::changes);
  const bool labeled = are_labeled();
  try {
    leave_out(tell_setups(speeds_, changes), "of an unknown setup");
  } catch (const RejectedRecord&) {
    if (!labeled) throw;
    return finish_alone(contents);
  }
  leave_out_unnamed();
  const bool one_drafts = std::ranges::count_if(speeds_, [](const SpokenSpeed& one) { return !one.arm->plain; }) == 1;
  std::string read_as;
  for (const SpokenSpeed& one : speeds_) {
    StatedRun run{.line = one.line,
                  .gamma = one.arm->gamma,
                  .rate = one.rate,
                  .concurrency = one.load,
                  .adaptive = one.arm->adaptive};
    const auto most = static_cast<double>(one.arm->gamma.value_or(max_gamma));
    const bool has_length = !one.arm->plain && one_drafts && lengths_.size() == 1 && is_exact_length_ &&
                            static_cast<double>(lengths_.front().gamma.value_or(0)) <= most &&
                            *lengths_.front().acceptance_length <= 1.0 + most;
    run.length = one.length.value_or(0.0) <= 1.0 + most ? one.length : std::nullopt;
    if (has_length) run.length = lengths_.front().acceptance_length;
    if (run.length) run.rate = std::nullopt;  // the length is printed
    (one.load ? run.output_tokens_per_s : run.request_tokens_per_s) = one.tokens_per_s;
    Observation observation = observation_of(run, one.arm->plain ? Decoding::plain : Decoding::speculative, contents);
    if (!one.arm->plain) observation.drafter = one.arm->drafter;
    if (!one.setup.empty()) observation.stratum.category = one.setup;
    if (one.setup.empty() && of_log) observation.stratum.category = fmt::format("line {}", speeds_.front().line);
    contents.observations.push_back(std::move(observation));
    if (one.is_middle)
      warn_once(contents, "W20", one.line, fmt::format("{:.4g} tok/s is the middle of a range", one.tokens_per_s));
    constexpr std::size_t enough = 200;
    if (read_as.size() < enough)
      read_as += fmt::format("{}line {} = {:.4g} tok/s {} speculation", read_as.empty() ? "" : "; ", one.line,
                             one.tokens_per_s, one.arm->plain ? "without" : "with");
  }
  warn_once(contents, "W22", speeds_.front().line, "read as: " + read_as);
  const auto is_of_one = [](const SpokenSpeed& one) { return one.load || one.is_time; };
  if (may_be_of_all_ && !std::ranges::all_of(speeds_, is_of_one)) warn_of_totals(speeds_.front().line, contents);
  tell_unused(contents);
}

}  // namespace

/// A speed, or a comparison of arms: "27B-MTP vs Base 27B".
LineFormat prose_format() {
  static const std::string drafts = "(?:spec|draft|" + std::string(names_of_drafters) + ")";
  static const std::string anchor =
      "(?i)\\d[\\d.,]*[`* ]*" + std::string(spoken_unit) +
      R"(|\b(?:[a-z]+[_ ])*(?:tps|t(?:ok(?:en)?s?)?(?:/|[_ ]per[_ ]|_)s(?:ec(?:ond)?)?)["']? ?[:=] ?\d)"
      R"(|(?:\b|_)(?:tps|tpot|t(?:ok(?:en)?s?)?(?:/|[_ ]per[_ ]|_)s(?:ec(?:ond)?)?|ms_per_tok(?:en)?)(?:_\w+| \(ms\))?["'`*]*[ \t]*[:=][ \t"'`*~]*\d)"
      R"(|accept(?:ance|ed)?[ -]len(?:gth)?\b[^\n\d|]{0,16}\d|\btok(?:ens?)?(?:/|_per_| per )(?:target[ _])?(?:step|forward(?:[ _]pass)?)[ =:~]{1,4}\d)"
      R"(|\bspeed-?up\b[^.\n|]{0,60}\b\d[\d.]* ?(?:x|\x{c3}\x{97}))"
      R"(|\d ?(?:x|\x{c3}\x{97}) (?:speed-?up|faster|as fast|the (?:speed|throughput)))"
      "|" +
      std::string(enabling) + R"([^\n|]{0,40}\b)" + drafts +
      R"(|\d ?% of (?:[a-z]+ ){0,5}(?:without|baseline|plain|no[- ]spec)\b)"
      "|" +
      drafts +
      R"([^\n|]{0,40}\bvs\.? [^\n|]{0,20}\b(?:base|plain|no|without))"
      R"(|(?:base|plain|no|without)[^\n|]{0,20} vs\.? [^\n|]{0,20}\b)" +
      drafts +
      R"(|\b(?:tpot|itl)\b[^\n|]{0,60}\d(?: ?ms (?:to|->|vs)[ .]| (?:to|->|vs\.?) ~?[\d.]+ ?ms\b|(?: ?ms)? ?)"
      "\xE2\x86\x92 ?~?\\d)";
  return lines_of<ProseReader>(anchor);
}

}  // namespace foredraft::logs
