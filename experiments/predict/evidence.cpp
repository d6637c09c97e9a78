// SPDX-License-Identifier: Apache-2.0
#include "experiments/predict/evidence.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "core/intervals.hpp"

namespace foredraft::experiments {
namespace {

/// What the ranges of latency/attainable hold of the steps and ratios that they were judged on.
constexpr double estimated_level = 0.90;
constexpr double measured_level = 0.95;

/// "-25 to +34 %"
std::string percent_text(const latency::Range& range) {
  return fmt::format("{:+.0f} to {:+.0f} %", 100.0 * (range.low - 1.0), 100.0 * (range.high - 1.0));
}

std::string_view name_of(latency::Source source) {
  switch (source) {
    case latency::Source::measured:
      return "measured here";
    case latency::Source::datasheet:
      return "data sheet";
    case latency::Source::operators:
      return "operators";
    case latency::Source::engine:
    case latency::Source::user:
      return "engine";
  }
  return "";
}

std::string_view what_is(latency::Source source) {
  if (source == latency::Source::datasheet) return "a data sheet";
  if (source == latency::Source::operators) return "operators measured in engines";
  return "steps that were measured";
}

/// How far a step was seen off.
std::string step_words(const ProfilePrediction& prediction) {
  const latency::Figure& stated = prediction.step_error;
  if (!stated.value) return "within " + percent_text(prediction.attainable->step);
  return fmt::format("within +- {:.0f} %{}", 100.0 * *stated.value,
                     stated.origin.empty() ? "" : fmt::format(" ({})", stated.origin));
}

std::optional<double> widest_speedup(const ProfilePrediction& prediction) {
  double spread = 0.0;
  for (const AtBatch& at : prediction.cells) {
    for (const AtDraftLength& length : at.lengths) spread = std::max(spread, length.spread.value_or(0.0));
  }
  return spread > 0.0 ? std::optional(spread) : std::nullopt;
}

}  // namespace

Evidence evidence_of(const ProfilePrediction& prediction) {
  Evidence evidence{.name = name_of(prediction.source),
                    .what = what_is(prediction.source),
                    .error = "how far such times are off is not known",
                    .interval_level = {},
                    .ratio_error = {}};
  if (const auto& attainable = prediction.attainable) {
    const latency::Range& ratio = attainable->verification;
    evidence.interval_level = estimated_level;
    evidence.ratio_error = (ratio.high - ratio.low) / (2.0 * ratio.value * normal_quantile(estimated_level));
    evidence.error = fmt::format(
        "verification over a decode step lay within {} of the prediction in {:.0f} % of what was "
        "judged, a step {}",
        percent_text(ratio), 100.0 * estimated_level, step_words(prediction));
  } else if (const auto step = prediction.cells.front().plain.spread) {
    evidence.interval_level = measured_level;
    if (const auto spread = widest_speedup(prediction))
      evidence.ratio_error = *spread / normal_quantile(measured_level);
    evidence.error = prediction.step_error.value ? "a step " + step_words(prediction)
                                                 : fmt::format("a decode step is known to +- {:.1f} % ({:.0f} %)",
                                                               100.0 * *step, 100.0 * measured_level);
  }
  return evidence;
}

}  // namespace foredraft::experiments
