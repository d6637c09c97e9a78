// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/finite_length.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "analytic/tokens/acceptance_by_position.hpp"
#include "analytic/tokens/token_count.hpp"
#include "foredraft/errors.hpp"
#include "tests/analytic/reference.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;
using tests::Real;
using tests::relative_error;
using tests::second_route;

std::vector<double> iid_pmf(double alpha, std::int64_t gamma) {
  const std::vector<double> conditional(static_cast<std::size_t>(gamma), alpha);
  return tokens_pmf(marginal_from_conditional(conditional), gamma, Convention::bonus);
}

/// Expected iterations by enumerating every sequence of token counts that reaches the length.
Real enumerated_iterations(const std::vector<double>& pmf, std::int64_t left, const Real& probability, int depth) {
  if (left <= 0) return probability * depth;
  Real sum = 0;
  for (std::size_t i = 0; i < pmf.size(); ++i) {
    sum += enumerated_iterations(pmf, left - static_cast<std::int64_t>(i + 1), probability * pmf[i], depth + 1);
  }
  return sum;
}

/// E[f(N)] for a batch of `rows`, N the iterations of its slowest, by enumerating the token counts of all rows.
template <class Function>
Real enumerated_slowest(const std::vector<double>& pmf, std::int64_t length, int rows, const Function& f) {
  // P(N = n) by enumeration of one row's sequences, then every combination of rows.
  std::vector<Real> exactly(static_cast<std::size_t>(length) + 1, Real(0));
  const auto walk = [&](const auto& again, std::int64_t left, const Real& probability, std::size_t depth) -> void {
    if (left <= 0) {
      exactly[depth] += probability;
      return;
    }
    for (std::size_t i = 0; i < pmf.size(); ++i) {
      again(again, left - static_cast<std::int64_t>(i + 1), probability * pmf[i], depth + 1);
    }
  };
  walk(walk, length, Real(1), 0);
  const auto combine = [&](const auto& again, int left, std::size_t slowest, const Real& probability) -> Real {
    if (left == 0) return probability * f(static_cast<double>(slowest));
    Real sum = 0;
    for (std::size_t n = 0; n < exactly.size(); ++n) {
      sum += again(again, left - 1, std::max(slowest, n), probability * exactly[n]);
    }
    return sum;
  };
  return combine(combine, rows, 0, Real(1));
}

}  // namespace

TEST_CASE("the distribution of iterations has the moments and the maximum of every possible batch") {
  const std::vector<double> pmf = GENERATE(iid_pmf(0.8, 5), std::vector<double>{0.3, 0.05, 0.4, 0.25});
  for (const std::int64_t length : {1, 2, 5, 7}) {
    const std::vector<double> survival = iterations_survival(pmf, length);
    const auto itself = [](double n) { return Real(n); };
    CHECK(relative_error(slowest_iterations(survival, 1), enumerated_slowest(pmf, length, 1, itself)) < few_ulp);
    CHECK(relative_error(slowest_iterations(survival, 3), enumerated_slowest(pmf, length, 3, itself)) < few_ulp);
    const auto square = [](double n) { return Real(n) * n; };
    CHECK(relative_error(iterations_second_moment(survival), enumerated_slowest(pmf, length, 1, square)) < few_ulp);
  }
}

TEST_CASE("a batch of one takes the expected iterations, and ever larger batches the maximum") {
  const std::vector<double> pmf = iid_pmf(0.8, 5);
  const std::vector<double> survival = iterations_survival(pmf, 300);
  CHECK(survival.size() == 300);
  CHECK(slowest_iterations(survival, 1) == Approx(expected_iterations(pmf, 300)).epsilon(second_route));
  CHECK(slowest_iterations(iterations_survival(pmf, 4), std::int64_t{1} << 40U) == Approx(4.0).epsilon(few_ulp));
  CHECK(slowest_iterations(iterations_survival(std::vector<double>{0.0, 0.0, 1.0}, 10), 7) == 4.0);
}

TEST_CASE("expected iterations are those of every possible sequence of token counts") {
  const std::vector<double> uneven{0.3, 0.05, 0.4, 0.25};
  for (std::int64_t length = 0; length <= 10; ++length) {
    CHECK(relative_error(expected_iterations(uneven, length), enumerated_iterations(uneven, length, Real(1), 0)) <
          few_ulp);
  }
  const std::vector<double> pmf = iid_pmf(0.8, 5);
  for (std::int64_t length = 1; length <= 7; ++length) {
    CHECK(relative_error(expected_iterations(pmf, length), enumerated_iterations(pmf, length, Real(1), 0)) < few_ulp);
  }
}

TEST_CASE("one token takes one iteration, no token none, and a fixed number of tokens divides rounding up") {
  const std::vector<double> pmf = iid_pmf(0.8, 5);
  CHECK(expected_iterations(pmf, 0) == 0.0);
  CHECK(expected_iterations(pmf, 1) == Approx(1.0).epsilon(few_ulp));
  const std::vector<double> three{0.0, 0.0, 1.0};
  CHECK(expected_iterations(three, 9) == 3.0);
  CHECK(expected_iterations(three, 10) == 4.0);
  CHECK(expected_iterations(std::vector<double>{1.0}, 1000) == 1000.0);
}

TEST_CASE("tokens per iteration measured on short sequences stay below the long-run mean") {
  // Sentences of 27 tokens at gamma 24: the yield of alpha 0.91, 27/E[N], is that of 0.88 in the long-run formula.
  const std::vector<double> pmf = iid_pmf(0.91, 24);
  const double measured = 27.0 / expected_iterations(pmf, 27);
  const auto long_run = [](double alpha) { return tokens_per_iteration({alpha, 24, Convention::bonus}); };
  CHECK(measured < long_run(0.91));
  CHECK(measured > long_run(0.875));
  CHECK(measured < long_run(0.885));
  constexpr double end_effect = 1e-5;  // of some ten tokens in 2.7 million
  CHECK(2.7e6 / expected_iterations(pmf, 2'700'000) == Approx(long_run(0.91)).epsilon(end_effect));
}

TEST_CASE("geometric lengths average the exact recursion over the geometric distribution") {
  const std::vector<double> pmf = GENERATE(iid_pmf(0.8, 5), std::vector<double>{0.3, 0.05, 0.4, 0.25});
  const double mean_length = GENERATE(1.0, 1.5, 20.0);
  Real expected = 0;
  Real survival = 1;
  const Real hazard = 1 / Real(mean_length);
  // (1 - 1/20)^1000 = 5e-23 is left out.
  for (std::int64_t length = 1; length <= 1000; ++length) {
    expected += survival * hazard * expected_iterations(pmf, length);
    survival *= 1 - hazard;
  }
  CHECK(relative_error(expected_iterations_geometric(pmf, mean_length), expected) < second_route);
}

TEST_CASE("very long geometric sequences keep their precision") {
  const std::vector<double> pmf = iid_pmf(0.8, 5);
  // E[N] = mean_length/mu + E[X(X-1)]/(2 mu^2) + O(1/mean_length); mu = 3.68928.
  CHECK(expected_iterations_geometric(pmf, 1e15) == Approx(1e15 / 3.68928).epsilon(second_route));
  const double correction = expected_iterations_geometric(pmf, 1e5) - 1e5 / 3.68928;
  constexpr double next_order = 1e-4;  // of 1/mean_length
  double ordered_pairs = 0.0;          // E[X (X - 1)]
  for (std::size_t k = 0; k < pmf.size(); ++k) ordered_pairs += static_cast<double>(k * (k + 1)) * pmf[k];
  CHECK(correction == Approx(ordered_pairs / (2.0 * 3.68928 * 3.68928)).epsilon(next_order));
}

// Many seconds of work: a recursion that ignored the flag would finish. No time is asserted.
TEST_CASE("a long recursion stops on request, and a stop token does not change the bits") {
  std::atomic<bool> asked{false};
  const auto pmf = iid_pmf(0.9, 5);
  CHECK(expected_iterations(pmf, 1000, &asked) == expected_iterations(pmf, 1000));
  CHECK(iterations_survival(pmf, 200, &asked) == iterations_survival(pmf, 200));
  const std::jthread asker([&asked] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    asked = true;
  });
  CHECK_THROWS_AS(expected_iterations(iid_pmf(0.9, 1000), 10'000'000, &asked), Interrupted);
  CHECK_THROWS_AS(iterations_survival(pmf, 20'000, &asked), Interrupted);
}

}  // namespace foredraft::analytic
