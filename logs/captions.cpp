// SPDX-License-Identifier: Apache-2.0
#include "logs/captions.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

#include "logs/line_fields.hpp"
#include "logs/record_fields.hpp"

namespace foredraft::logs {

std::optional<Arm> arm_in_caption(std::string_view caption) {
  constexpr std::size_t max_words = 60;  // more are a sentence
  static const RE2 several(              // or options of a command
      R"((?i).*(?:--|\bvs\b|versus|\band\b|\bor\b|compar|speed-?up|against|over|than|/|,.*(?:with|base)).*)");
  // The name of a data set, and the size of a model, which is no draft length.
  static const RE2 no_arm(R"((?i)spec[-_ ]?bench|\b\d+(?:\.\d+)?b\b)");
  std::string text(caption);
  RE2::GlobalReplace(&text, no_arm, "");
  if (text.size() > max_words || RE2::FullMatch(text, several)) return std::nullopt;
  return arm_in_text(text);
}

void RunCaptions::note(std::string_view caption, std::int64_t number) {
  constexpr std::size_t max_captions = 1024;
  if (caption.empty() || captions_.size() == max_captions) return;
  if (auto arm = arm_in_caption(caption)) captions_.push_back({.line = number, .arm = *std::move(arm)});
}

void RunCaptions::name_runs(LogContents& contents) const {
  std::vector<Observation>& runs = contents.observations;
  const bool other_spans = std::ranges::any_of(runs, [](const Observation& one) { return one.span != Span::run; });
  const bool names_plain = std::ranges::any_of(captions_, [](const Caption& one) { return one.arm.plain; });
  const bool of_text = contents.format == "prose";  // its speeds say themselves whether they are with speculation
  if ((other_spans && !names_plain) || contents.format.find(' ') != std::string::npos) return;
  for (Observation& run : runs) {
    const auto later = std::ranges::upper_bound(captions_, run.line, {}, &Caption::line);
    if (later == captions_.begin()) continue;
    const Arm& arm = std::prev(later)->arm;
    const bool counted = run.acceptance || run.acceptance_length;
    if (!of_text && !counted && (arm.plain || run.decoding != Decoding::speculative)) {
      run.decoding = arm.plain ? Decoding::plain : Decoding::speculative;
    }
    if (run.decoding != Decoding::speculative || arm.plain) continue;
    logs::note(run.gamma, whole(arm.gamma));
    logs::note(run.drafter, arm.drafter);
  }
}

void tell_unused_rows(LogContents& contents) {
  const auto is_unknown = [](const Observation& one) { return one.decoding == Decoding::unknown; };
  const auto first = std::ranges::find_if(contents.observations, is_unknown);
  const auto unknown = std::ranges::count_if(contents.observations, is_unknown);
  if (contents.format != "table" || unknown == 0 || unknown == std::ssize(contents.observations)) return;
  contents.warnings.push_back(
      {.code = "W18",
       .line = first->line,
       .message = fmt::format("{} rows are not compared: call those that speculate \"MTP\", the others \"baseline\"",
                              unknown)});
}

}  // namespace foredraft::logs
