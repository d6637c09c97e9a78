// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analytic/observed/clustered_estimate.hpp"
#include "core/problems.hpp"
#include "experiments/compare/run_estimates.hpp"

/// Numbers with as many digits as their intervals justify.
namespace foredraft::experiments {

/// Digits after the point that show `half_width` of an interval with two digits up to 35 units of the last one, else
/// with one: 0 to 6, 3 if it is 0 or unknown.
[[nodiscard]] int digits_for(double half_width);

/// With this many digits; never "-0".
[[nodiscard]] std::string rounded(double value, int digits);
/// With its sign, "+0.05".
[[nodiscard]] std::string signed_rounded(double value, int digits);

/// With this many digits, rounded away from zero.
[[nodiscard]] std::string rounded_up(double value, int digits);

/// "2.418 (2.406 to 2.431)", 95 %.
[[nodiscard]] std::string with_interval(const analytic::ClusteredEstimate& estimate);
[[nodiscard]] std::string with_interval(double value, const Interval& interval);

/// "2.418 +- 0.013", 95 %.
[[nodiscard]] std::string with_half_interval(const analytic::ClusteredEstimate& estimate);

// ---- Requirements on a run: `acceptance_length>=2.3`, for use in CI.

struct Requirement {
  enum class Relation { at_least, above, at_most, below };
  std::string text;    ///< as given, without blanks
  std::string metric;  ///< as MeasuredMetric::metric
  Relation relation;
  double threshold;
};

/// Parses `metric (>=|>|<=|<) number` with or without blanks, the number as in parse_quantity; else returns what is
/// wrong. `key`: its option, for the problem.
[[nodiscard]] std::variant<Requirement, Problem> parse_requirement(std::string_view text, std::string_view key);

struct RequirementVerdict {
  enum class Outcome {
    met,        ///< the whole 95 % interval meets it
    not_shown,  ///< the interval includes the threshold, or the metric is not known
    not_met,    ///< no part of the interval meets it
  };
  Requirement requirement;
  std::string run;  ///< its name
  Outcome outcome;
  std::optional<double> value = {};
  std::optional<Interval> ci95 = {};
  std::string why = {};  ///< why the metric is not known; else empty
};

[[nodiscard]] RequirementVerdict verdict_of(const Requirement& requirement, const RunEstimates& run);

/// "met", "not shown", "not met".
[[nodiscard]] std::string_view outcome_word(RequirementVerdict::Outcome outcome);

}  // namespace foredraft::experiments
