// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/arms.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/sentences.hpp"
#include "logs/spoken_numbers.hpp"
#include "logs/stated_run.hpp"

/// Text that names arms and their speeds: "baseline: 31 tok/s", "I get 52 t/s with MTP, 31 t/s without it". It is
/// read only if nothing else in the file says whether a run speculates.
namespace foredraft::logs {
namespace {

/// Maximum number of speeds that are read: text has fewer.
constexpr std::size_t max_spoken = 1000;
/// Maximum length of a line that is read, in bytes: a paragraph is shorter.
constexpr std::size_t max_spoken_line = std::size_t{1} << 14U;

/// Whether speeds may be of one setup: those without speculation differ by at most 10 %, those of each arm that drafts
/// by less than those of other models.
bool of_one_setup(std::span<const SpokenSpeed> speeds) {
  constexpr double same = 1.1, same_arm = 1.5;
  return std::ranges::all_of(speeds, [&](const SpokenSpeed& one) {
    return std::ranges::all_of(speeds, [&](const SpokenSpeed& other) {
      const bool of_arm = one.arm->plain == other.arm->plain && one.arm->gamma == other.arm->gamma &&
                          one.arm->drafter == other.arm->drafter;
      return !of_arm || one.tokens_per_s <= (one.arm->plain ? same : same_arm) * other.tokens_per_s;
    });
  });
}

/// Names the setups of speeds that come in pairs: each has one speed without speculation, all before or all after
/// those with it. False if they do not.
bool are_paired(std::span<SpokenSpeed> speeds) {
  const bool plain_first = speeds.front().arm->plain;
  std::size_t begin = 0;
  bool paired = true;
  for (std::size_t i = 0; i <= speeds.size(); ++i) {
    const auto plain = std::count_if(speeds.begin() + static_cast<std::ptrdiff_t>(begin),
                                     speeds.begin() + static_cast<std::ptrdiff_t>(i),
                                     [](const SpokenSpeed& one) { return one.arm->plain; });
    const bool ends =
        i == speeds.size() || (i > begin && (plain_first ? speeds[i].arm->plain : !speeds[i].arm->plain && plain > 0));
    if (ends) {
      const std::span<SpokenSpeed> pair = speeds.subspan(begin, i - begin);
      paired = paired && plain == 1 && pair.size() > 1 && of_one_setup(pair);
      for (SpokenSpeed& one : pair) one.setup = fmt::format("line {}", pair.front().line);
      begin = i;
    }
  }
  return paired;
}

/// Keeps the lines with one speed without speculation and others with it, each as a setup. Returns the first other.
std::optional<SpokenSpeed> keep_complete_lines(std::vector<SpokenSpeed>& speeds) {
  const std::vector<SpokenSpeed> all = speeds;
  const auto is_alone = [&](const SpokenSpeed& one) {
    const auto same = [&](const SpokenSpeed& other) { return other.line == one.line; };
    const auto plain = [&](const SpokenSpeed& other) { return same(other) && other.arm->plain; };
    return std::ranges::count_if(all, plain) != 1 || std::ranges::count_if(all, same) < 2;
  };
  const auto first = std::ranges::find_if(all, is_alone);
  std::erase_if(speeds, is_alone);
  for (SpokenSpeed& one : speeds) one.setup = fmt::format("line {}", one.line);
  return first == all.end() ? std::nullopt : std::optional(*first);
}

/// Whether the text names a load of each speed, several in all, and each load has both arms.
bool have_loads(std::span<const SpokenSpeed> speeds) {
  const std::string& first = speeds.front().setup;
  return std::ranges::any_of(speeds, [&](const SpokenSpeed& one) { return one.setup != first; }) &&
         std::ranges::all_of(speeds, [&](const SpokenSpeed& one) {
           return !one.setup.empty() && std::ranges::any_of(speeds, [&](const SpokenSpeed& other) {
             return other.setup == one.setup && other.arm->plain != one.arm->plain;
           });
         });
}

/// Names the setups of a text if it has several; `changes`: each line is one. Returns the first speed that it drops.
/// Throws RejectedRecord if its speeds do not pair up, and no line has a pair.
std::optional<SpokenSpeed> tell_setups(std::vector<SpokenSpeed>& speeds, bool changes) {
  if (have_loads(speeds)) return std::nullopt;
  for (SpokenSpeed& one : speeds) one.setup = {};
  const std::int64_t line = speeds.front().line;
  const bool one_line = std::ranges::all_of(speeds, [&](const SpokenSpeed& one) { return one.line == line; });
  if (of_one_setup(speeds) && (one_line || !changes)) return std::nullopt;
  if (!changes && are_paired(speeds)) return std::nullopt;
  auto dropped = keep_complete_lines(speeds);
  if (!speeds.empty()) return dropped;
  reject({.line = line,
          .text = "speeds of one arm that differ",
          .why = "of which setups are they?",
          .suggestion = "write a table with the columns model, config and tok/s, or a file for each setup"});
}

/// Drops speeds that no other may be compared with, and returns the first. Throws RejectedRecord if that are all.
std::optional<SpokenSpeed> drop_others(std::vector<SpokenSpeed>& speeds) {
  const std::vector<SpokenSpeed> all = speeds;
  const auto is_alone = [&](const SpokenSpeed& one) {
    return std::ranges::none_of(all, [&](const SpokenSpeed& other) {
      return one.arm->plain != other.arm->plain && may_be_compared(one.subject, other.subject);
    });
  };
  const auto first = std::ranges::find_if(all, is_alone);
  const auto plain = std::ranges::count_if(all, [](const SpokenSpeed& one) { return one.arm->plain; });
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
  void note_length(std::string_view text, std::int64_t number);
  void add_plain();
  void tell_unused(LogContents& contents) const;

  std::vector<Observation> lengths_ = {};  ///< acceptance lengths, of texts that state no others
  std::vector<SpokenSpeed> speeds_ = {};
  std::vector<UnnamedChange> unnamed_ = {};
  std::optional<SpokenSpeed> first_unused_ = {};  ///< no words say whether it is with speculation
  std::string compares_ = {};                     ///< the last line that compares arms, without speeds
};

bool ProseReader::line(std::string_view text, std::int64_t number, LogContents& /*contents*/) {
  if (text.size() > max_spoken_line || text.find_first_of("|\t") != std::string_view::npos ||
      speeds_.size() + unnamed_.size() >= max_spoken)
    return false;
  SpokenLine spoken = spoken_line(text, number, compares_);
  if (spoken.speeds.empty() && spoken.unnamed.empty() && text.find(" vs") != std::string_view::npos) compares_ = text;
  const std::size_t before = speeds_.size() + unnamed_.size() + lengths_.size();
  note_length(text, number);
  for (SpokenSpeed& speed : spoken.speeds) {
    if (speed.arm)
      speeds_.push_back(std::move(speed));
    else if (!first_unused_)
      first_unused_ = std::move(speed);
  }
  std::ranges::move(spoken.unnamed, std::back_inserter(unnamed_));
  return speeds_.size() + unnamed_.size() + lengths_.size() > before;
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
  if (std::ranges::any_of(speeds_, [](const SpokenSpeed& one) { return one.arm->plain; })) return;
  for (std::size_t i = 0; i < speeds_.size(); ++i) {
    if (!speeds_[i].gain) continue;
    const SpokenSpeed plain{
        .line = speeds_[i].line, .arm = Arm{.plain = true}, .tokens_per_s = speeds_[i].tokens_per_s / *speeds_[i].gain};
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
  const auto is_speed = [](const SpokenSpeed& one) { return !one.is_time; };
  if (std::ranges::any_of(speeds_, is_speed)) std::erase_if(speeds_, std::not_fn(is_speed));
  const auto is_typical = [](const SpokenSpeed& one) { return !one.arm->plain && !one.is_most; };
  if (std::ranges::any_of(speeds_, is_typical))
    std::erase_if(speeds_, [](const SpokenSpeed& one) { return one.is_most; });
  const bool drafts = std::ranges::any_of(speeds_, [](const SpokenSpeed& one) { return !one.arm->plain; });
  const bool both = drafts && std::ranges::any_of(speeds_, [](const SpokenSpeed& one) { return one.arm->plain; });
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
  const bool changes = std::ranges::any_of(speeds_, &SpokenSpeed::changes);
  if (const auto other = tell_setups(speeds_, changes)) {
    warn_once(contents, "W18", other->line,
              fmt::format("{:.4g} tok/s is not used: its setup is not known", other->tokens_per_s));
  }
  std::string read_as;
  for (const SpokenSpeed& one : speeds_) {
    StatedRun run{.line = one.line, .gamma = one.arm->gamma, .rate = one.rate, .concurrency = one.load};
    (one.load ? run.output_tokens_per_s : run.request_tokens_per_s) = one.tokens_per_s;
    Observation observation = observation_of(run, one.arm->plain ? Decoding::plain : Decoding::speculative, contents);
    if (!one.arm->plain) observation.drafter = one.arm->drafter;
    if (!one.setup.empty() && !one.load) observation.stratum.category = one.setup;
    contents.observations.push_back(std::move(observation));
    constexpr std::size_t enough = 200;
    if (read_as.size() < enough)
      read_as += fmt::format("{}line {} = {:.4g} tok/s {} speculation", read_as.empty() ? "" : "; ", one.line,
                             one.tokens_per_s, one.arm->plain ? "without" : "with");
  }
  warn_once(contents, "W22", speeds_.front().line, "read as: " + read_as);
  tell_unused(contents);
}

}  // namespace

/// A speed, or a comparison of arms: "27B-MTP vs Base 27B".
LineFormat prose_format() {
  static const std::string anchor =
      "(?i)\\d[\\d.,]*[`* ]*" + std::string(spoken_unit) +
      R"(|accept(?:ance|ed)?[ -]len(?:gth)?\b[^\n\d|]{0,16}\d)"
      R"(|(?:mtp|eagle|dflash|medusa|draft|spec)[^\n|]{0,40}\bvs\.? [^\n|]{0,20}\b(?:base|plain|no|without))"
      R"(|\b(?:tpot|itl)\b[^\n|]{0,60}\d(?: ?ms (?:to|->|vs)[ .]| (?:to|->|vs\.?) ~?[\d.]+ ?ms\b))";
  return lines_of<ProseReader>(anchor);
}

}  // namespace foredraft::logs
