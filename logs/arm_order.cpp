// SPDX-License-Identifier: Apache-2.0
#include "logs/arm_order.hpp"

#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include "logs/acceptance.hpp"
#include "logs/line_fields.hpp"
#include "logs/log_format.hpp"
#include "logs/record_fields.hpp"
#include "logs/spoken_options.hpp"

namespace foredraft::logs {
namespace {

/// The arm of words that may leave out what the other ones name: "without" of "without, then with MTP".
std::optional<Arm> arm_of_turn(const std::string& words) {
  static const RE2 without("(?i)(?:.*\\W)?(?:off|plain|" + std::string(words_for_without) + ")\\W*(?:it)?\\W*");
  static const RE2 with(R"((?i)(?:.*\W)?(?:with|on)\W*(?:it)?\W*)");
  if (RE2::FullMatch(words, without)) return Arm{.plain = true};
  if (RE2::FullMatch(words, with)) return Arm{.speculative = true};
  const std::vector<ArmPhrase> phrases = arm_phrases(words);
  const auto differs = [&](const ArmPhrase& one) { return one.is_plain() != phrases.front().is_plain(); };
  return std::ranges::any_of(phrases, differs) ? std::nullopt : arm_in_text(words);
}

}  // namespace

std::optional<ArmOrder> arm_order_in(std::string_view line) {
  static const std::string next = R"([\s,;.]+(?:(?:and|but) )?(?:the )?(?:then|after(?:wards| that)|followed by)";
  static const RE2 counted(R"((?i).*?\bfirst\b(.+?))" + next + R"(|second(?:ly)?)\b(.*))");
  static const RE2 in_turn(R"((?i)(.+?)(?:[\s,;]+(?:and )?first)?)" + next + R"()\b(.*))");
  // Right behind its turn: "the baseline, then I saw that MTP ..." states no order.
  static const RE2 names_second(
      R"((?i)\W*(?:(?:the|an?|one|run|table|is|was|using)\W+)*(?:with|on|off|no|plain|spec|draft|)" +
      std::string(words_for_without) + "|" + names_of_plain + "|" + names_of_drafters + ").*");
  const SpokenOptions options = spoken_options(line);
  if (options.mentions > 1) return std::nullopt;
  std::optional<Arm> one, other;
  for (const RE2* const pattern : {&counted, &in_turn}) {
    std::string first, second;
    if (one || !RE2::FullMatch(options.words, *pattern, &first, &second)) continue;
    one = arm_of_turn(first);
    if (RE2::FullMatch(second, names_second)) other = arm_of_turn(second);
  }
  if (!one || !other || one->plain == other->plain) return std::nullopt;
  ArmOrder order{.first = *one, .second = *other};
  Arm& drafts = order.first.plain ? order.second : order.first;
  if (options.arm.gamma) drafts.gamma = options.arm.gamma;
  if (options.arm.drafter) drafts.drafter = options.arm.drafter;
  drafts.tree = options.arm.tree;
  return order;
}

namespace {

/// A run, a table, or what a console printed of several loads.
using RunsOfArm = std::vector<Observation*>;

/// The first and second half of runs at the same loads in the same order; none for others.
std::vector<RunsOfArm> halves_of(const std::vector<RunsOfArm>& parts) {
  const std::size_t half = parts.size() / 2;
  const auto load = [](const RunsOfArm& part) {
    const Observation& run = *part.front();
    return std::tuple(run.concurrency, run.requests, run.offered_requests, run.times.request_rate_per_s,
                      run.stratum.category);
  };
  std::vector<RunsOfArm> halves(2);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool again = i % half > 0 && load(parts[i]) == load(parts[i - 1]);
    if (parts[i].size() > 1 || again || load(parts[i]) != load(parts[i % half])) return {};
    halves[i / half].push_back(parts[i].front());
  }
  return halves;
}

}  // namespace

void OrderedRuns::note(std::string_view caption, std::int64_t number) {
  if (caption == line_) return;
  auto order = arm_order_in(caption);
  if (!order) return;
  order_ = std::move(order);
  line_ = caption;
  number_ = number;
}

void OrderedRuns::name_runs(std::span<const ReadTable> tables, LogContents& contents) const {
  if (!order_) return;
  std::vector<RunsOfArm> parts;
  std::int64_t last = 0;  // line of the last part
  for (Observation& run : contents.observations) {
    if (run.span == Span::window) return;
    if (run.line < number_) continue;
    if (parts.empty() || run.line > last) parts.emplace_back();
    parts.back().push_back(&run);
    const auto table = std::ranges::find_if(
        tables, [&](const ReadTable& one) { return one.first_line <= run.line && run.line <= one.last_line; });
    last = std::max(last, table == tables.end() ? run.line : table->last_line);
  }
  constexpr std::size_t arms = 2;
  if (parts.size() > arms && parts.size() % arms == 0) parts = halves_of(parts);
  if (parts.size() != arms) return;
  const std::array order{order_->first, order_->second};
  const auto contradicts = [&](std::size_t i) {
    const Decoding other = order.at(i).plain ? Decoding::speculative : Decoding::plain;
    return std::ranges::any_of(parts[i], [&](const Observation* run) { return run->decoding == other; });
  };
  if (contradicts(0) || contradicts(1)) return;
  for (std::size_t i = 0; i < arms; ++i) {
    for (Observation* const run : parts[i]) {
      run->decoding = order.at(i).plain ? Decoding::plain : Decoding::speculative;
      if (!order.at(i).plain) note_arm(*run, order.at(i));
    }
  }
  warn_once(contents, "W22", parts.front().front()->line,
            order_->first.plain ? "first = without speculation, second = with it"
                                : "first = with speculation, second = without it");
}

}  // namespace foredraft::logs
