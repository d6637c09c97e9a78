// SPDX-License-Identifier: Apache-2.0
#include "answers/comparison.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "core/numbers.hpp"

namespace foredraft::answers {
namespace {

double without_negative_zero(double value, int digits) {
  return std::abs(value) < 0.5 * std::pow(10.0, -digits) ? 0.0 : value;
}

using Relation = Requirement::Relation;

constexpr std::int64_t max_position = 4096;

std::string without_blanks(std::string_view text) {
  std::string kept(text);
  std::erase_if(kept, [](char c) { return c == ' ' || c == '\t'; });
  return kept;
}

/// Whether a name is "marginal[1]", "marginal[2]" and so on.
bool is_marginal(std::string_view metric) {
  constexpr std::string_view prefix = "marginal[";
  if (!metric.starts_with(prefix) || !metric.ends_with(']')) return false;
  const auto position = parse_integer(metric.substr(prefix.size(), metric.size() - prefix.size() - 1));
  return position && *position >= 1 && *position <= max_position &&
         marginal_name(static_cast<std::size_t>(*position)) == metric;
}

/// The full name of a metric given without its unit: "tpot_ms" for "tpot".
std::string full_name(const std::string& metric) {
  const auto entries = metric_entries();
  const std::string in_ms = metric + "_ms";
  return std::ranges::find(entries, in_ms, &MetricEntry::name) != entries.end() ? in_ms : metric;
}

std::string metric_suggestion(const std::string& metric) {
  std::vector<std::string> names;
  for (const MetricEntry& entry : metric_entries()) names.emplace_back(entry.name);
  names.emplace_back("marginal[1]");
  return suggestion_for(metric, names);
}

bool meets(double value, const Requirement& requirement) {
  switch (requirement.relation) {
    case Relation::at_least:
      return value >= requirement.threshold;
    case Relation::above:
      return value > requirement.threshold;
    case Relation::at_most:
      return value <= requirement.threshold;
    case Relation::below:
      break;
  }
  return value < requirement.threshold;
}

std::string why_unknown(const RunEstimates& run, const std::string& metric) {
  const auto why = run.unknown.find(metric);
  return why == run.unknown.end() ? "acceptance at this position was not logged" : why->second;
}

void add_value(const RunEstimates& run, RequirementVerdict& verdict) {
  const MeasuredMetric* measured = run.find(verdict.requirement.metric);
  if (measured == nullptr) {
    verdict.why = why_unknown(run, verdict.requirement.metric);
    return;
  }
  verdict.value = measured->estimate.value;
  verdict.ci95 = known_interval(measured->estimate);
}

void add_ratio(std::size_t run, const Comparison& comparison, RequirementVerdict& verdict) {
  const std::string& metric = verdict.requirement.metric;
  const auto compared = std::ranges::find(comparison.compared, run, &RunComparison::candidate);
  if (compared == comparison.compared.end()) {
    const auto other = std::ranges::find(comparison.not_compared, run, &NotCompared::candidate);
    verdict.why = other == comparison.not_compared.end() ? "there is no log A" : "not compared with A: " + other->why;
    return;
  }
  const RunEstimates& reference = comparison.runs[compared->reference];
  verdict.reference = reference.name;
  const auto difference = std::ranges::find(compared->metrics, metric, &MetricDifference::metric);
  if (difference == compared->metrics.end()) {
    const RunEstimates& candidate = comparison.runs[run];
    verdict.why = why_unknown(candidate.find(metric) == nullptr ? candidate : reference, metric);
  } else if (!std::isfinite(difference->ratio)) {
    verdict.why = "a ratio needs two values above 0";
  } else {
    verdict.value = difference->ratio;
    verdict.ci95 = difference->ratio_ci95;
  }
}

}  // namespace

bool is_metric(std::string_view name) {
  const auto entries = metric_entries();
  return is_marginal(name) || std::ranges::find(entries, name, &MetricEntry::name) != entries.end();
}

int digits_for(double half_width) {
  constexpr int of_nothing = 3;
  constexpr int max_digits = 6;
  constexpr double from_one_digit = 3.55;
  if (!(half_width > 0.0) || !std::isfinite(half_width)) return of_nothing;
  return std::clamp(static_cast<int>(std::ceil(std::log10(from_one_digit / half_width))), 0, max_digits);
}

std::string rounded(double value, int digits) {
  return fmt::format("{:.{}f}", without_negative_zero(value, digits), digits);
}

std::string signed_rounded(double value, int digits) {
  return fmt::format("{:+.{}f}", without_negative_zero(value, digits), digits);
}

std::string rounded_up(double value, int digits) {
  const double unit = std::pow(10.0, digits);
  const double scaled = std::ceil(std::abs(value) * unit * (1.0 - 1e-9)) / unit;
  return fmt::format("{:.{}f}", std::copysign(scaled, value), digits);
}

std::string with_interval(double value, const Interval& interval) {
  if (std::isnan(interval.low)) return rounded(value, digits_for(0.0));
  const int digits = digits_for((interval.high - interval.low) / 2.0);
  return fmt::format("{} ({} to {})", rounded(value, digits), rounded(interval.low, digits),
                     rounded(interval.high, digits));
}

std::string with_interval(const analytic::ClusteredEstimate& estimate) {
  return with_interval(estimate.value, known_interval(estimate));
}

std::string with_half_interval(const analytic::ClusteredEstimate& estimate) {
  const Interval interval = known_interval(estimate);
  if (std::isnan(interval.low)) return rounded(estimate.value, digits_for(0.0));
  const double half = (interval.high - interval.low) / 2.0;
  const int digits = digits_for(half);
  return fmt::format("{} +- {}", rounded(estimate.value, digits), rounded_up(half, digits));
}

std::variant<Requirement, Problem> parse_requirement(std::string_view text, std::string_view key) {
  const std::string all = without_blanks(text);
  const auto problem = [&](std::string what, std::string why, std::string suggestion) {
    return Problem{
        .key = std::string(key), .text = std::move(what), .why = std::move(why), .suggestion = std::move(suggestion)};
  };
  const std::size_t at = all.find_first_of("<>=");
  if (at == std::string::npos || all[at] == '=') {
    return problem(fmt::format("invalid requirement \"{}\"", text), "no >=, >, <= or <; a shell takes > without quotes",
                   "quote it: --require 'acceptance_length>=2.3'");
  }
  const bool or_equal = at + 1 < all.size() && all[at + 1] == '=';
  const std::string metric = full_name(all.substr(0, at));
  const std::string number = all.substr(at + (or_equal ? 2 : 1));
  const bool relative = number.size() > 1 && number.ends_with('x');
  if (!is_metric(metric)) {
    return problem(fmt::format("unknown metric \"{}\" in \"{}\"", metric, text), "", metric_suggestion(metric));
  }
  const auto threshold = parse_quantity(number.substr(0, number.size() - (relative ? 1 : 0)));
  if (!threshold || (relative && !(*threshold > 0.0))) {
    return problem(fmt::format("invalid number \"{}\" in \"{}\"", number, text),
                   relative ? "must be above 0, relative to A" : "must be a finite number",
                   fmt::format("e.g. {}>=1.05{}", metric, relative ? "x" : ""));
  }
  const bool more = all[at] == '>';
  return Requirement{.text = all,
                     .metric = metric,
                     .relation = more ? (or_equal ? Relation::at_least : Relation::above)
                                      : (or_equal ? Relation::at_most : Relation::below),
                     .threshold = *threshold,
                     .relative = relative};
}

RequirementVerdict verdict_of(const Requirement& requirement, std::size_t run, const Comparison& comparison) {
  const RunEstimates& estimates = comparison.runs[run];
  RequirementVerdict verdict{
      .requirement = requirement, .run = estimates.name, .outcome = RequirementVerdict::Outcome::not_shown};
  if (requirement.relative) {
    add_ratio(run, comparison, verdict);
  } else {
    add_value(estimates, verdict);
  }
  if (!verdict.value) return verdict;
  if (std::isnan(verdict.ci95->low)) {
    verdict.ci95 = std::nullopt;
    verdict.why = "a single run: its error is not known";
    return verdict;
  }
  const bool low = meets(verdict.ci95->low, requirement);
  const bool high = meets(verdict.ci95->high, requirement);
  if (low && high) verdict.outcome = RequirementVerdict::Outcome::met;
  if (!low && !high) verdict.outcome = RequirementVerdict::Outcome::not_met;
  return verdict;
}

std::string_view outcome_word(RequirementVerdict::Outcome outcome) {
  if (outcome == RequirementVerdict::Outcome::met) return "met";
  return outcome == RequirementVerdict::Outcome::not_met ? "not met" : "not shown";
}

}  // namespace foredraft::answers
