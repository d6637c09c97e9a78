// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/paper_formulas.hpp"

#include <catch2/catch.hpp>
#include <stdexcept>

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/tokens/token_count.hpp"
#include "experiments/reproduce/formula.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::experiments {
namespace {

using tests::few_ulp;
using tests::second_route;

/// Of a row of [Leviathan2023, Table 2]: its alpha, gamma and speedup.
RoundedValue implied_c(const char* task, const char* drafter) {
  const PublishedTable& table = published_table("leviathan_table2");
  return evaluate(formula_of("implied_c(alpha, #gamma, speed_x)", {}), table,
                  table.row_where({{"task", task}, {"approx_model", drafter}, {"temperature", "0"}}));
}

double speedup(double alpha, std::int64_t gamma, double c) {
  return analytic::speedup(
      analytic::tokens_per_iteration({.alpha = alpha, .gamma = gamma, .convention = Convention::bonus}), gamma, c,
      Drafting::autoregressive);
}

constexpr BlockLatency worked{
    .target_encoder_ms = 5.0, .drafter_encoder_ms = 7.0, .draft_ms = 10.0, .verify_ms = 8.0, .fixed_ms = 3.0};

/// A sentence as a list of events, one after the other.
double by_events(const BlockLatency& latency, int iterations) {
  double clock = latency.target_encoder_ms;
  clock += latency.drafter_encoder_ms;
  for (int i = 0; i < iterations; ++i) {
    clock += latency.draft_ms;
    clock += latency.verify_ms;
  }
  return clock + latency.fixed_ms;
}

/// A run as a list of spans of time, added up one after the other.
struct Timeline {
  double others;  ///< an iteration without the verification kernel
  double kernel;
  int iterations;

  [[nodiscard]] double of_kernel() const {
    double sum = 0.0;
    for (int i = 0; i < iterations; ++i) sum += kernel;
    return sum;
  }
  [[nodiscard]] double whole() const {
    double sum = 0.0;
    for (int i = 0; i < iterations; ++i) {
      for (const double span : {others, kernel}) sum += span;
    }
    return sum;
  }
};

double saved(double before, double after) { return 1.0 - after / before; }

}  // namespace

TEST_CASE("the implied cost returns the printed speedup, and its interval the limits of the rounding box") {
  const RoundedValue c = implied_c("EnDe", "T5-small");  // 0.75, 7, 3.4x
  CHECK(speedup(0.75, 7, c.value) == Approx(3.4).epsilon(second_route));
  CHECK(speedup(0.745, 7, c.rounding.low) == Approx(3.45).epsilon(second_route));
  CHECK(speedup(0.755, 7, c.rounding.high) == Approx(3.35).epsilon(second_route));
}

TEST_CASE("a speedup above the maximum of any acceptance process implies a negative cost") {
  CHECK(implied_c("CNNDM", "T5-small").rounding.high < 0.0);  // 0.65, 5, 3.1x
  const double process_bound = paper_formula("any_process_tokens")({0.655, 5.0});
  CHECK(iid_tokens(0.655, 5) < process_bound);
  CHECK(process_bound < 3.05);
}

TEST_CASE("the optimum at the implied cost is at least as good as the printed choice") {
  const double c = implied_c("EnDe", "T5-large").value;  // 0.82, 7, 1.7x
  const analytic::BestGamma best = best_iid(0.82, c);
  CHECK(best.speedup >= 1.7);
  CHECK(best.speedup == Approx(speedup(0.82, best.gamma.value(), c)).epsilon(second_route));
}

TEST_CASE("a sentence takes both encoders, the fixed cost and its iterations") {
  CHECK(worked.setup_ms() == 15.0);
  for (const int iterations : {0, 1, 4, 100}) {
    CHECK(worked.sentence_ms(iterations) == Approx(by_events(worked, iterations)).epsilon(few_ulp));
  }
  CHECK(worked.sentence_ms(2.5) == 60.0);
  CHECK(worked.drafter_alone_ms(3.0) == 37.0);
}

TEST_CASE("fewer calls save time that no kernel saved, as a timeline of spans adds up") {
  for (const int calls : {400, 392, 80, 0, 900}) {
    for (const double gain : {0.0, 0.27, 0.9, -0.5}) {
      const Timeline before{5.0, 2.0, 400};
      const Timeline after{5.0, 2.0 * (1.0 - gain), calls};
      const double of_kernel = saved(before.of_kernel(), after.of_kernel());
      CAPTURE(calls, gain);
      CHECK(total_gain(gain, calls / 400.0) == Approx(of_kernel).margin(second_route));
      CHECK(implied_call_ratio(of_kernel, gain) == Approx(calls / 400.0).margin(second_route));
      // A skipped iteration saves its drafting and target step as well: the same formula one level up.
      CHECK(total_gain(before.kernel / 7.0 * gain, calls / 400.0) ==
            Approx(saved(before.whole(), after.whole())).margin(second_route));
    }
  }
}

TEST_CASE("half the calls at 27 percent a call save 63.5 percent in all") {
  CHECK(total_gain(0.27, 0.5) == Approx(0.635).epsilon(few_ulp));
  CHECK(implied_call_ratio(0.635, 0.27) == Approx(0.5).epsilon(few_ulp));
}

TEST_CASE("the limits of gains and calls are right without round-off") {
  CHECK(total_gain(0.117, 1.0) == 0.117);
  CHECK(total_gain(0.117, 0.0) == 1.0);
  CHECK(total_gain(1.0, 7.0) == 1.0);
  CHECK(implied_call_ratio(1.0, 0.3) == 0.0);
}

TEST_CASE("declared formulas find a formula by its name, and no other") {
  CHECK(paper_formula("iid_speedup")({0.75, 7.0, 0.02}) == iid_speedup(0.75, 7, 0.02));
  CHECK(paper_formula("line_slope")({1.0, 5.0, 3.0, 9.0}) == Approx(2.0));
  CHECK(paper_formula("line_intercept")({1.0, 5.0, 3.0, 9.0}) == Approx(3.0));
  CHECK_THROWS_AS(paper_formula("no_such_formula"), std::logic_error);
}

}  // namespace foredraft::experiments
