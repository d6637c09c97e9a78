// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/specdec/speedup_fit.hpp"

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>

#include "core/check.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::experiments {
namespace {

void check_strips(std::span<const Strip> strips) {
  if (strips.empty()) throw DomainError("invalid strips (must have at least one entry)");
  for (const Strip& strip : strips) {
    for (const double value : {strip.low.intercept, strip.low.slope, strip.high.intercept, strip.high.slope}) {
      if (!std::isfinite(value)) throw DomainError("invalid strip (must have finite coefficients)");
    }
  }
}

}  // namespace

std::optional<Interval> feasible_x(std::span<const Strip> strips, const Interval& range) {
  check_strips(strips);
  Interval x = range;
  for (const Strip& below : strips) {
    for (const Strip& above : strips) {
      // below.low(x) <= above.high(x), that is gap + slope * x >= 0.
      const double gap = above.high.intercept - below.low.intercept;
      const double slope = above.high.slope - below.low.slope;
      if (slope > 0.0) {
        x.low = std::max(x.low, -gap / slope);
      } else if (slope < 0.0) {
        x.high = std::min(x.high, gap / -slope);
      } else if (gap < 0.0) {
        return std::nullopt;
      }
    }
  }
  if (!(x.low <= x.high)) return std::nullopt;
  return x;
}

namespace {

void check_interval(std::string_view name, const Interval& interval) {
  check_positive(name, interval.low);
  check_positive(name, interval.high);
  if (interval.low > interval.high) throw DomainError("invalid interval (must not be empty)");
}

/// The best step time for this t_v; speedups are linear in the step time.
double best_step(std::span<const DrafterRow> rows, double verify) {
  double product = 0.0;
  double square = 0.0;
  for (const DrafterRow& row : rows) {
    const double x = row.tokens / (row.draft_time + verify);
    product += x * row.speedup;
    square += x * x;
  }
  return product / square;
}

double squared_error(std::span<const DrafterRow> rows, double verify) {
  const double step = best_step(rows, verify);
  double error = 0.0;
  for (const DrafterRow& row : rows) {
    const double difference = step * row.tokens / (row.draft_time + verify) - row.speedup;
    error += difference * difference;
  }
  return error;
}

}  // namespace

Line least_squares_line(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size() || x.size() < 2) throw DomainError("invalid points (must be two or more, with x and y)");
  const auto n = static_cast<double>(x.size());
  double mean_x = 0.0;
  double mean_y = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / n;
    mean_y += y[i] / n;
  }
  double product = 0.0;
  double square = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    product += (x[i] - mean_x) * (y[i] - mean_y);
    square += (x[i] - mean_x) * (x[i] - mean_x);
  }
  if (!(square > 0.0 && std::isfinite(product))) {
    throw DomainError("invalid points (must be finite, with two different x)");
  }
  const double slope = product / square;
  return {.intercept = mean_y - slope * mean_x, .slope = slope};
}

StepTimes fit_step_times(std::span<const DrafterRow> rows, const Interval& verification) {
  if (rows.size() < 2) throw DomainError("invalid rows (must be two or more)");
  for (const DrafterRow& row : rows) {
    check_positive("tokens", row.tokens);
    check_nonnegative("draft_time", row.draft_time);
    check_positive("speedup", row.speedup);
  }
  check_interval("verification", verification);
  // On a logarithmic scale because t_v is known only up to a factor.
  constexpr int half_of_a_doubles_bits = 26;
  const double best = boost::math::tools::brent_find_minima(
                          [&](double log_verify) { return squared_error(rows, std::exp(log_verify)); },
                          std::log(verification.low), std::log(verification.high), half_of_a_doubles_bits)
                          .first;
  const double verify = std::exp(best);
  return {.verify = verify, .step = best_step(rows, verify)};
}

Strip step_times_strip(const Interval& tokens, const Interval& draft_time, const Interval& speedup) {
  check_interval("tokens", tokens);
  check_nonnegative("draft_time", draft_time.low);
  check_nonnegative("draft_time", draft_time.high);
  check_interval("speedup", speedup);
  const auto bound = [](double speed, double draft, double token_count) {
    return Line{.intercept = speed * draft / token_count, .slope = speed / token_count};
  };
  return {.low = bound(speedup.low, draft_time.low, tokens.high),
          .high = bound(speedup.high, draft_time.high, tokens.low)};
}

Strip inverse_speedup_strip(const Interval& iterations, const Interval& speedup) {
  check_interval("iterations", iterations);
  check_interval("speedup", speedup);
  return {.low = {.intercept = 1.0 / speedup.high, .slope = -iterations.high},
          .high = {.intercept = 1.0 / speedup.low, .slope = -iterations.low}};
}

}  // namespace foredraft::experiments
