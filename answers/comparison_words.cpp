// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>

#include "answers/comparison.hpp"

namespace foredraft::answers {
namespace {

const MetricDifference* metric_of(const RunComparison& compared, std::string_view metric) {
  const auto found = std::ranges::find(compared.metrics, metric, &MetricDifference::metric);
  return found == compared.metrics.end() ? nullptr : &*found;
}

/// The absolute value of a difference and its interval, for sentences with "more" or "fewer".
struct Sizes {
  double size, low, high;
};

Sizes sizes_of(double difference, const Interval& interval) {
  if (difference >= 0.0) return {difference, interval.low, interval.high};
  return {-difference, -interval.high, -interval.low};
}

/// "B" if both logs have one run, else the full name.
std::string short_or_full(const RunEstimates& run, const Comparison& comparison) {
  const bool alone = comparison.logs.size() > 1 && comparison.runs.size() == comparison.logs.size();
  return alone ? run.log : run.name;
}

std::string acceptance_sentence(const MetricDifference& length, const std::string& candidate,
                                const std::string& reference) {
  const double half = (length.difference_ci95.high - length.difference_ci95.low) / 2.0;
  const int digits = digits_for(half);
  if (std::isnan(half)) {
    return fmt::format("{} accepts {} tokens per iteration, {} {}; these are single runs, whose error is not known.",
                       candidate, rounded(length.candidate, digits), reference, rounded(length.reference, digits));
  }
  if (!length.shown) {
    return fmt::format(
        "No difference in acceptance length between {} and {} is shown: {} +- {}; a change of {} or more would have "
        "been seen.",
        candidate, reference, rounded(length.difference, digits), rounded_up(half, digits),
        rounded_up(length.smallest_detectable, digits));
  }
  const Sizes sizes = sizes_of(length.difference, length.difference_ci95);
  return fmt::format("{} accepts {} {} tokens per iteration than {} ({} to {}).", candidate,
                     rounded(sizes.size, digits), length.difference > 0.0 ? "more" : "fewer", reference,
                     rounded(sizes.low, digits), rounded(sizes.high, digits));
}

/// `subject`: "Its TPOT"; `than` and `between`: the names of both runs in words, or nothing.
std::string tpot_sentence(const MetricDifference& tpot, std::string_view subject, std::string_view than,
                          std::string_view between) {
  constexpr double percent = 100.0;
  const Interval change{percent * (tpot.ratio_ci95.low - 1.0), percent * (tpot.ratio_ci95.high - 1.0)};
  const double difference = percent * (tpot.ratio - 1.0);
  const int digits = digits_for((change.high - change.low) / 2.0);
  const std::string_view direction = difference > 0.0 ? "higher" : "lower";
  if (std::isnan(change.low)) {
    return fmt::format("{} is {:.1f} % {}{} in single runs, whose error is not known.", subject, std::abs(difference),
                       direction, than);
  }
  if (!tpot.shown) {
    return fmt::format("No difference in TPOT{} is shown: {} % ({} to {} %).", between,
                       signed_rounded(difference, digits), rounded(change.low, digits), rounded(change.high, digits));
  }
  const Sizes sizes = sizes_of(difference, change);
  return fmt::format("{} is {} % {}{} ({} to {} %).", subject, rounded(sizes.size, digits), direction, than,
                     rounded(sizes.low, digits), rounded(sizes.high, digits));
}

std::string comparison_sentences(const RunComparison& compared, const Comparison& comparison) {
  const std::string candidate = short_or_full(comparison.runs[compared.candidate], comparison);
  const std::string reference = short_or_full(comparison.runs[compared.reference], comparison);
  const MetricDifference* length = metric_of(compared, "acceptance_length");
  const MetricDifference* tpot = metric_of(compared, "tpot_ms");
  if (length != nullptr && tpot != nullptr) {
    return acceptance_sentence(*length, candidate, reference) + " " + tpot_sentence(*tpot, "Its TPOT", "", "");
  }
  if (length != nullptr) return acceptance_sentence(*length, candidate, reference);
  if (tpot == nullptr) {
    return fmt::format("Neither acceptance length nor TPOT is known for both {} and {}.", candidate, reference);
  }
  return tpot_sentence(*tpot, fmt::format("The TPOT of {}", candidate), fmt::format(" than that of {}", reference),
                       fmt::format(" between {} and {}", candidate, reference));
}

/// How many of several comparisons show a larger, and how many a smaller acceptance length.
std::string count_sentence(const Comparison& comparison) {
  std::size_t more = 0;
  std::size_t fewer = 0;
  for (const RunComparison& compared : comparison.compared) {
    const MetricDifference* length = metric_of(compared, "acceptance_length");
    if (length == nullptr || !length->shown) continue;
    (length->difference > 0.0 ? more : fewer) += 1;
  }
  return fmt::format(" Of {} comparisons {} show{} a larger acceptance length, {} a smaller one.",
                     comparison.compared.size(), more, more == 1 ? "s" : "", fewer);
}

double steps_of_run(const RunEstimates& run) { return run.run.steps; }

/// The comparison of the candidate with the most verification steps.
const RunComparison& main_comparison(const Comparison& comparison) {
  return *std::ranges::max_element(comparison.compared, {},
                                   [&](const RunComparison& one) { return comparison.runs[one.candidate].run.steps; });
}

std::string estimate_sentence(const RunEstimates& run) {
  const MeasuredMetric* length = run.find("acceptance_length");
  const MeasuredMetric* speedup = run.find("speedup");
  std::string text =
      length == nullptr
          ? fmt::format("The acceptance length of {} is not known: {}.", run.name, run.unknown.at("acceptance_length"))
          : fmt::format("{} yields {} tokens per iteration.", run.name, with_interval(length->estimate));
  return text + (speedup == nullptr ? fmt::format(" Its speedup is not known: {}.", run.unknown.at("speedup"))
                                    : fmt::format(" Its speedup is {}.", with_interval(speedup->estimate)));
}

std::string requirements_sentence(const Comparison& comparison) {
  using Outcome = RequirementVerdict::Outcome;
  std::vector<std::string> counts;
  for (const Outcome outcome : {Outcome::not_met, Outcome::not_shown, Outcome::met}) {
    const auto count = std::ranges::count(comparison.verdicts, outcome, &RequirementVerdict::outcome);
    if (count > 0) counts.push_back(fmt::format("{} {}", count, outcome_word(outcome)));
  }
  return fmt::format("Requirements: {}. ", fmt::join(counts, ", "));
}

}  // namespace

std::string answer_of(const Comparison& comparison) {
  std::string text = comparison.verdicts.empty() ? "" : requirements_sentence(comparison);
  if (!comparison.compared.empty()) {
    text += comparison_sentences(main_comparison(comparison), comparison);
    return comparison.compared.size() == 1 ? text : text + count_sentence(comparison);
  }
  if (comparison.logs.size() == 1)
    return text + estimate_sentence(*std::ranges::max_element(comparison.runs, {}, steps_of_run));
  const NotCompared& first = comparison.not_compared.front();
  return text + fmt::format("Nothing is compared: {}{}.", first.why,
                            comparison.not_compared.size() == 1
                                ? ""
                                : fmt::format(", and {} more", comparison.not_compared.size() - 1));
}

}  // namespace foredraft::answers
