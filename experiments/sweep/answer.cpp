// SPDX-License-Identifier: Apache-2.0
#include "experiments/sweep/answer.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "core/numbers.hpp"

namespace foredraft::experiments {
namespace {

/// With fewer units, a ratio of totals is too skewed for Student's t.
constexpr std::uint64_t enough_units = 30;

}  // namespace

void Agreement::add(double deviation_in_se, std::uint64_t units) {
  min_units = deviations == 0 ? units : std::min(min_units, units);
  largest = std::max(largest, std::abs(deviation_in_se));
  ++deviations;
}

double agreement_bound(const Agreement& agreement) {
  constexpr double family_level = 0.99;
  const double level_of_one = -std::expm1(std::log(family_level) / static_cast<double>(agreement.deviations));
  const boost::math::students_t student(static_cast<double>(agreement.min_units) - 1.0);
  return boost::math::quantile(boost::math::complement(student, level_of_one / 2.0));
}

std::string to_text(const Agreement& agreement) {
  if (agreement.deviations == 0) return "no point has both a closed form and a standard error";
  if (agreement.min_units < enough_units) {
    return fmt::format("not judged: a point has {} independent units, too few for its standard error",
                       agreement.min_units);
  }
  std::string text =
      fmt::format("largest of {} deviations: {:.2f} standard errors (99 % of correct runs stay below {:.2f})",
                  agreement.deviations, agreement.largest, agreement_bound(agreement));
  if (agreement.not_comparable > 0) {
    text += fmt::format("; {} of {} points not comparable: no standard error", agreement.not_comparable,
                        agreement.deviations + agreement.not_comparable);
  }
  return text;
}

namespace {

/// A hundred units in the last place, because closed form and estimate are a few double operations from exact numbers.
constexpr double estimate_round_off = 2e-14;

void append_cell(double value, std::string& row) {
  row += ',';
  if (!std::isnan(value)) append_number(row, value);
}

}  // namespace

void add_loss(const ClosedForm& closed_form, Simulated& simulated) {
  const Estimate& speedup = simulated.estimates.speedup;
  const double optimum = closed_form.optimal_speedup;
  simulated.estimates.loss = {1.0 - speedup.mean / optimum, speedup.standard_error / optimum};
}

std::optional<double> deviation_in_se(const ClosedForm& closed_form, const Simulated& simulated,
                                      const scenario::Metric& metric) {
  if (metric.closed_form == nullptr || metric.estimate == nullptr) return std::nullopt;
  const double expected = closed_form.*metric.closed_form;
  const Estimate& estimate = simulated.estimates.*metric.estimate;
  if (std::isnan(expected) || std::isnan(estimate.mean) || std::isnan(estimate.standard_error)) return std::nullopt;
  const double difference = estimate.mean - expected;
  const double rounding = estimate_round_off * std::max(std::abs(expected), std::abs(estimate.mean));
  if (std::abs(difference) <= rounding) return 0.0;
  if (estimate.standard_error > rounding) return difference / estimate.standard_error;
  const double variance = closed_form.tokens_variance;
  if (std::isnan(variance) || simulated.units != simulated.iterations) return std::nullopt;
  const double implied = std::sqrt(std::max(0.0, variance) / static_cast<double>(simulated.units));
  if (metric.closed_form == &ClosedForm::tokens_per_iteration) return difference / std::max(rounding, implied);
  // If tokens cannot vary, no metric does, so the difference is not random.
  return implied > 0.0 ? std::nullopt : std::optional(difference / rounding);
}

std::vector<std::string> answer_columns(const std::vector<scenario::Metric>& metrics, bool simulated) {
  std::vector<std::string> columns;
  if (simulated) columns = {"simulated_iterations", "simulated_units"};
  for (const scenario::Metric& metric : metrics) {
    const bool closed_form = metric.closed_form != nullptr;
    if (closed_form) columns.push_back(fmt::format("analytic_{}", metric.name));
    if (!simulated || metric.estimate == nullptr) continue;
    columns.push_back(fmt::format("simulated_{}", metric.name));
    columns.push_back(fmt::format("simulated_{}_standard_error", metric.name));
    if (closed_form) columns.push_back(fmt::format("{}_deviation_in_se", metric.name));
  }
  return columns;
}

void append_answer(const std::vector<scenario::Metric>& metrics, const ClosedForm& closed_form,
                   std::optional<Simulated> simulated, std::string& row) {
  if (simulated) add_loss(closed_form, *simulated);
  const std::size_t start = row.size();
  if (simulated) {
    row += ',';
    append_number(row, simulated->iterations);
    row += ',';
    append_number(row, simulated->units);
  }
  for (const scenario::Metric& metric : metrics) {
    if (metric.closed_form != nullptr) append_cell(closed_form.*metric.closed_form, row);
    if (!simulated || metric.estimate == nullptr) continue;
    const Estimate& estimate = simulated->estimates.*metric.estimate;
    append_cell(estimate.mean, row);
    append_cell(std::isnan(estimate.mean) ? unknown<double> : estimate.standard_error, row);
    if (metric.closed_form != nullptr) {
      append_cell(deviation_in_se(closed_form, *simulated, metric).value_or(unknown<double>), row);
    }
  }
  row.erase(start, 1);  // the inputs already end with a comma
}

}  // namespace foredraft::experiments
