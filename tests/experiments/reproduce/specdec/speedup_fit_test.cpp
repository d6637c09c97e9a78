// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/specdec/speedup_fit.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <vector>

#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::experiments {
namespace {

using tests::second_route;
using tests::solved_root;

double squared_error_of(const std::vector<DrafterRow>& rows, double verify, double step) {
  double error = 0.0;
  for (const DrafterRow& row : rows) {
    const double difference = step * row.tokens / (row.draft_time + verify) - row.speedup;
    error += difference * difference;
  }
  return error;
}

}  // namespace

TEST_CASE("a line through exact points is recovered, and residuals are orthogonal otherwise") {
  const std::array<double, 3> x{3.1, 4.0, 4.9};
  const std::array<double, 3> exact{0.04 + 0.06 * 3.1, 0.04 + 0.06 * 4.0, 0.04 + 0.06 * 4.9};
  const Line line = least_squares_line(x, exact);
  CHECK(line.intercept == Approx(0.04).epsilon(second_route));
  CHECK(line.slope == Approx(0.06).epsilon(second_route));
  const std::array<double, 3> noisy{0.25, 0.2, 0.4};
  const Line fit = least_squares_line(x, noisy);
  double sum = 0.0;
  double moment = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double residual = noisy[i] - fit.intercept - fit.slope * x[i];
    sum += residual;
    moment += residual * x[i];
  }
  CHECK(sum == Approx(0.0).margin(second_route));
  CHECK(moment == Approx(0.0).margin(second_route));
}

TEST_CASE("exact speedups return the verification time and the step") {
  std::vector<DrafterRow> rows;
  for (const double draft : {0.8, 2.3, 5.2, 10.9}) {
    const double tokens = 2.0 + draft;
    rows.push_back({.tokens = tokens, .draft_time = draft, .speedup = 13.0 * tokens / (draft + 17.0)});
  }
  const StepTimes times = fit_step_times(rows, {0.1, 1000.0});
  CHECK(times.verify == Approx(17.0).epsilon(1e3 * solved_root));  // a minimum: half the digits of the error
  CHECK(times.step == Approx(13.0).epsilon(1e3 * solved_root));
}

TEST_CASE("no point of a grid fits the published drafters better than the fit") {
  const std::vector<DrafterRow> rows{{2.32, 0.81, 1.7}, {7.05, 2.29, 4.4}, {8.21, 10.87, 4.0}, {8.23, 5.21, 5.1}};
  const StepTimes best = fit_step_times(rows, {0.1, 1000.0});
  const double least = squared_error_of(rows, best.verify, best.step);
  for (int i = 1; i <= 120; ++i) {
    for (int j = 1; j <= 120; ++j) CHECK(squared_error_of(rows, 0.5 * i, 0.5 * j) >= least);
  }
}

TEST_CASE("a strip of step times holds exactly the pairs that give a printed speedup") {
  const Interval tokens{2.315, 2.325};
  const Interval draft{0.805, 0.815};
  const Interval speedup{1.65, 1.75};
  const Strip strip = step_times_strip(tokens, draft, speedup);
  for (const double verify : {0.0, 5.0, 18.0}) {
    // The slowest and the fastest reading of the row at this t_v.
    const auto low = strip.low.intercept + strip.low.slope * verify;
    const auto high = strip.high.intercept + strip.high.slope * verify;
    CHECK(low * tokens.high / (draft.low + verify) == Approx(speedup.low).epsilon(second_route));
    CHECK(high * tokens.low / (draft.high + verify) == Approx(speedup.high).epsilon(second_route));
    CHECK(low < high);
  }
}

TEST_CASE("a strip of inverse speeds holds exactly the lines that give a printed speedup") {
  const Interval iterations{3.05, 3.15};
  const Interval speedup{4.45, 4.55};
  const Strip strip = inverse_speedup_strip(iterations, speedup);
  for (const double slope : {0.0, 0.02, 0.06}) {
    CHECK(1.0 / (strip.low.intercept + strip.low.slope * slope + slope * iterations.high) ==
          Approx(speedup.high).epsilon(second_route));
    CHECK(1.0 / (strip.high.intercept + strip.high.slope * slope + slope * iterations.low) ==
          Approx(speedup.low).epsilon(second_route));
  }
}

TEST_CASE("fits reject too few rows, equal abscissae and values out of range") {
  const std::array<double, 2> same{1.0, 1.0};
  CHECK_THROWS_AS(least_squares_line(same, same), DomainError);
  CHECK_THROWS_AS(least_squares_line(std::array{1.0}, std::array{1.0}), DomainError);
  CHECK_THROWS_AS(least_squares_line(std::array{1.0, std::nan("")}, same), DomainError);
  CHECK_THROWS_AS(fit_step_times(std::vector<DrafterRow>{{2.0, 1.0, 1.5}}, {0.1, 10.0}), DomainError);
  CHECK_THROWS_AS(fit_step_times(std::vector<DrafterRow>{{2.0, 1.0, 1.5}, {0.0, 1.0, 1.5}}, {0.1, 10.0}), DomainError);
  CHECK_THROWS_AS(step_times_strip({1.0, 2.0}, {0.0, 1.0}, {0.0, 1.0}), DomainError);
  CHECK_THROWS_AS(inverse_speedup_strip({2.0, 1.0}, {1.0, 2.0}), DomainError);
}

}  // namespace foredraft::experiments
