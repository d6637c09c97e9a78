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

/// Whether it is "marginal[1]", "marginal[2]" and so on.
bool is_marginal(std::string_view metric) {
  constexpr std::string_view prefix = "marginal[";
  if (!metric.starts_with(prefix) || !metric.ends_with(']')) return false;
  const auto position = parse_integer(metric.substr(prefix.size(), metric.size() - prefix.size() - 1));
  return position && *position >= 1 && *position <= max_position &&
         marginal_name(static_cast<std::size_t>(*position)) == metric;
}

std::string metric_suggestion(const std::string& metric) {
  std::vector<std::string> names;
  for (const MetricEntry& entry : metric_entries()) names.emplace_back(entry.name);
  names.emplace_back("marginal[1]");
  return suggestion_for(metric, names);
}

bool is_known(const std::string& metric) {
  const auto entries = metric_entries();
  return is_marginal(metric) || std::ranges::find(entries, metric, &MetricEntry::name) != entries.end();
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

}  // namespace

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
  const int digits = digits_for((interval.high - interval.low) / 2.0);
  return fmt::format("{} ({} to {})", rounded(value, digits), rounded(interval.low, digits),
                     rounded(interval.high, digits));
}

std::string with_interval(const analytic::ClusteredEstimate& estimate) {
  return with_interval(estimate.value, analytic::interval_of(estimate));
}

std::string with_half_interval(const analytic::ClusteredEstimate& estimate) {
  const Interval interval = analytic::interval_of(estimate);
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
  const std::string metric = all.substr(0, at);
  const std::string number = all.substr(at + (or_equal ? 2 : 1));
  if (!is_known(metric)) {
    return problem(fmt::format("unknown metric \"{}\" in \"{}\"", metric, text), "", metric_suggestion(metric));
  }
  const auto threshold = parse_quantity(number);
  if (!threshold) {
    return problem(fmt::format("invalid number \"{}\" in \"{}\"", number, text), "must be a finite number",
                   fmt::format("e.g. {}>=1.05", metric));
  }
  const bool more = all[at] == '>';
  return Requirement{.text = all,
                     .metric = metric,
                     .relation = more ? (or_equal ? Relation::at_least : Relation::above)
                                      : (or_equal ? Relation::at_most : Relation::below),
                     .threshold = *threshold};
}

RequirementVerdict verdict_of(const Requirement& requirement, const RunEstimates& run) {
  RequirementVerdict verdict{
      .requirement = requirement, .run = run.name, .outcome = RequirementVerdict::Outcome::not_shown};
  const MeasuredMetric* measured = run.find(requirement.metric);
  if (measured == nullptr) {
    const auto why = run.unknown.find(requirement.metric);
    verdict.why = why == run.unknown.end() ? "acceptance at this position was not logged" : why->second;
    return verdict;
  }
  verdict.value = measured->estimate.value;
  verdict.ci95 = analytic::interval_of(measured->estimate);
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
