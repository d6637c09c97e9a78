// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <cmath>

#include "analytic/tokens/token_count.hpp"
#include "core/csv.hpp"
#include "experiments/sweep/answer.hpp"
#include "experiments/sweep/run_sweep.hpp"
#include "experiments/sweep/summary.hpp"
#include "experiments/sweep/sweep_folder.hpp"
#include "tests/experiments/config_testing.hpp"
#include "tests/support/temporary_folder.hpp"

namespace foredraft::experiments {
namespace {

struct Tokens {
  std::optional<double> analytic = {};
  std::optional<double> variance = {};  ///< by the closed form
  std::optional<Estimate> simulated = {};
  std::uint64_t units = 1000;
  std::uint64_t iterations_of_unit = 1;
};

/// Of tokens per iteration.
std::optional<double> deviation_of(const Tokens& tokens) {
  ClosedForm closed_form;
  closed_form.tokens_per_iteration = tokens.analytic.value_or(unknown<double>);
  closed_form.tokens_variance = tokens.variance.value_or(unknown<double>);
  Simulated simulated{.estimates = {}, .iterations = tokens.units * tokens.iterations_of_unit, .units = tokens.units};
  simulated.estimates.tokens_per_iteration = tokens.simulated.value_or(unknown<Estimate>);
  return deviation_in_se(closed_form, simulated, *scenario::find_metric("tokens_per_iteration"));
}

}  // namespace

TEST_CASE("a deviation is in standard errors, zero for exact agreement without spread, empty if a side is missing") {
  const auto deviation = [](std::optional<double> analytic, std::optional<Estimate> simulated) {
    return deviation_of({.analytic = analytic, .simulated = simulated});
  };
  CHECK(deviation(2.0, Estimate{2.3, 0.1}).value() == Approx(3.0));
  CHECK(deviation(2.0, Estimate{1.7, 0.1}).value() == Approx(-3.0));
  CHECK(deviation(2.0, Estimate{2.0, 0.0}) == 0.0);
  CHECK_FALSE(deviation(std::nullopt, Estimate{2.0, 0.1}));
  CHECK_FALSE(deviation(2.0, std::nullopt));
  CHECK_FALSE(deviation(2.0, Estimate{2.0, std::nan("")}));
}

TEST_CASE("a simulation without variation is compared by the standard error that the closed form implies") {
  const Estimate ones{1.0, 0.0};
  // alpha 0.001 and gamma 5, 1,000 times no acceptance: about one was expected.
  CHECK(deviation_of({.analytic = 1.001001001001001, .variance = 0.001002003004004995, .simulated = ones}).value() ==
        Approx(-1.0).epsilon(1e-3));
  // No acceptance where 2.69 per iteration are expected: 2.69 / sqrt(3.03 / 1000).
  const auto defect = deviation_of({.analytic = 3.69, .variance = 3.03, .simulated = ones});
  CHECK(defect.value() == Approx(-48.87).epsilon(1e-3));
  Agreement agreement;
  agreement.add(*defect, 1000);
  CHECK(agreement.largest > 15.0 * agreement_bound(agreement));
  // Unknown if the closed form has no variance, or not that of the units.
  CHECK_FALSE(deviation_of({.analytic = 3.69, .simulated = ones}));
  CHECK_FALSE(deviation_of({.analytic = 3.69, .variance = 3.03, .simulated = ones, .iterations_of_unit = 10}));
  // Tokens that cannot vary and still differ: a contradiction, without an infinity.
  const auto contradiction = deviation_of({.analytic = 6.0, .variance = 0.0, .simulated = Estimate{5.0, 0.0}});
  CHECK(contradiction.value() < -1e9);
  CHECK(std::isfinite(*contradiction));
  const auto of_nothing = deviation_of({.analytic = 0.0, .variance = 0.0, .simulated = Estimate{5.0, 0.0}});
  CHECK(std::isfinite(of_nothing.value()));
}

TEST_CASE("quantities derived from tokens are compared without variation only if tokens cannot vary") {
  ClosedForm closed_form;
  closed_form.tokens_per_iteration = 1.001;
  closed_form.tokens_variance = 0.001;
  closed_form.speedup = 0.8;
  Simulated simulated{.estimates = {}, .iterations = 1000, .units = 1000};
  simulated.estimates.speedup = Estimate{0.7, 0.0};
  const scenario::Metric& speedup = *scenario::find_metric("speedup");
  CHECK_FALSE(deviation_in_se(closed_form, simulated, speedup));
  closed_form.tokens_variance = 0.0;
  CHECK(deviation_in_se(closed_form, simulated, speedup).value() < -1e9);
}

TEST_CASE("the standard error that a closed form implies never makes a likely outcome a disagreement") {
  // Second route: the exact probability that no draft of n iterations is accepted, or every one.
  Agreement one;
  one.add(0.0, 1'000'000);
  const double bound = agreement_bound(one);
  int disagreements = 0;
  for (const double alpha : {1e-6, 1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0 - 1e-6}) {
    for (const double gamma : {1.0, 5.0, 50.0}) {
      for (const double n : {30.0, 1e3, 1e6}) {
        const analytic::IidIteration iteration{alpha, static_cast<std::int64_t>(gamma), Convention::bonus};
        for (const bool accepted : {false, true}) {
          const auto deviation = deviation_of({.analytic = analytic::tokens_per_iteration(iteration),
                                               .variance = analytic::tokens_variance(iteration),
                                               .simulated = Estimate{accepted ? gamma + 1.0 : 1.0, 0.0},
                                               .units = static_cast<std::uint64_t>(n)});
          if (std::abs(deviation.value()) <= bound) continue;
          CAPTURE(alpha, gamma, n, accepted);
          CHECK(n * (accepted ? gamma * std::log(alpha) : std::log1p(-alpha)) < std::log(0.01));
          ++disagreements;
        }
      }
    }
  }
  CHECK(disagreements > 80);
}

TEST_CASE("of 60 seeds with about one acceptance each none gives an infinity or an alarm") {
  const tests::TemporaryFolder folder;
  int without_acceptance = 0;
  for (int seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const SweepConfig config =
        tests::config_of(fmt::format("[axes]\nalpha = [0.001]\n[fixed]\ngamma = 5\nc = 0.05\n[simulation]\n"
                                     "iterations = 1000\nseed = {}\n",
                                     seed));
    const std::string name = folder / std::to_string(seed);
    run_sweep(config, name, {.threads = 1});
    const std::string row = tests::content_of(points_path(name));
    CHECK(row.find("inf") == std::string::npos);
    CHECK(row.find("nan") == std::string::npos);
    const Agreement agreement = summarize(Points(config), points_path(name)).agreement;
    CHECK(agreement.deviations == 1);
    CHECK(agreement.largest < agreement_bound(agreement));
    CsvReader reader(points_path(name));
    std::vector<std::string> cells;
    REQUIRE(reader.next(cells));
    if (cells[reader.column("simulated_tokens_per_iteration").value()] == "1") ++without_acceptance;
  }
  CHECK(without_acceptance > 10);
}

TEST_CASE("points without a standard error are counted apart from the agreement of the others") {
  const tests::TemporaryFolder folder;
  const SweepConfig config = tests::config_of("[axes]\nalpha = [0.3, 0.9]\n[fixed]\ngamma = 2\n");
  const std::string header =
      "index,alpha,simulated_units,analytic_tokens_per_iteration,simulated_tokens_per_iteration,"
      "tokens_per_iteration_deviation_in_se\n";
  tests::write_text(folder / "p.csv", header + "0,0.3,1000,1.39,1.4,0.5\n1,0.9,1000,2.71,3,-inf\n2,0.9,1000,2.7,,\n");
  const Agreement agreement = summarize(Points(config), folder / "p.csv").agreement;
  CHECK(agreement.deviations == 1);
  CHECK(agreement.largest == 0.5);
  CHECK(to_text(agreement) ==
        "largest of 1 deviations: 0.50 standard errors (99 % of correct runs stay below 2.58); 1 of 2 points not "
        "comparable: no standard error");
  tests::write_text(folder / "p.csv", header + "0,0.3,-1,1.39,1.4,0.5\n");
  CHECK_THAT(to_text(summarize(Points(config), folder / "p.csv").agreement),
             Catch::Contains("a point has 0 independent units"));
}

}  // namespace foredraft::experiments
