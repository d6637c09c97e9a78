// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/engine_fit.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <vector>

#include "foredraft/errors.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

/// An engine of known terms, in us.
struct KnownTerms {
  double step = 0.9, host = 2000.0, host_request = 40.0, draft_host = 700.0, draft_host_request = 15.0;

  [[nodiscard]] double operator()(const TimedIterations& at) const {
    const double drafting = at.drafts ? draft_host + draft_host_request * at.requests : 0.0;
    return at.known_us + step * at.passes_us + host + host_request * at.requests + drafting;
  }
};

/// Passes of a GPU on which batches of 64 take a third longer than one request.
double passes_at(double batch, bool drafts) {
  return (drafts ? 9000.0 : 6000.0) + (drafts ? 60.0 : 20.0) * batch + (batch > 32.0 ? 900.0 : 0.0);
}

std::vector<TimedIterations> windows_of(const KnownTerms& terms, const std::vector<double>& loads,
                                        const std::vector<double>& drafting_loads, int each, double noise = 0.0,
                                        std::uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<TimedIterations> iterations;
  const auto add = [&](double batch, bool drafts) {
    for (int i = 0; i < each; ++i) {
      TimedIterations one{.iteration_us = 0.0,
                          .passes_us = passes_at(batch, drafts),
                          .known_us = drafts ? 500.0 : 0.0,
                          .requests = batch,
                          .drafts = drafts};
      one.iteration_us = terms(one) * (1.0 + noise * normal(random));
      iterations.push_back(one);
    }
  };
  for (const double batch : loads) add(batch, false);
  for (const double batch : drafting_loads) add(batch, true);
  return iterations;
}

const FittedTerm& term_of(const EngineFit& fit, EngineTerm term) {
  return *std::ranges::find(fit.terms, term, &FittedTerm::term);
}

}  // namespace

TEST_CASE("times without noise return the terms of their engine") {
  const KnownTerms terms;
  const EngineFit fit = fit_engine(windows_of(terms, {1.0, 8.0, 32.0, 64.0}, {1.0, 16.0, 64.0}, 3));
  CHECK(fit.terms.size() == 5);
  CHECK(fit.windows == 21);
  CHECK(fit.median_error < foredraft::tests::solved_root);
  const auto check = [&](EngineTerm term, double value) {
    CHECK(term_of(fit, term).value == Approx(value).epsilon(1e-6));
    CHECK(term_of(fit, term).interval.low == Approx(value).epsilon(1e-4));
    CHECK(term_of(fit, term).interval.high == Approx(value).epsilon(1e-4));
  };
  check(EngineTerm::step, terms.step);
  check(EngineTerm::host, terms.host);
  check(EngineTerm::host_request, terms.host_request);
  check(EngineTerm::draft_host, terms.draft_host);
  check(EngineTerm::draft_host_request, terms.draft_host_request);
}

TEST_CASE("the loads decide which terms can be separated") {
  const KnownTerms flat{.host_request = 0.0, .draft_host_request = 0.0};
  const EngineFit two = fit_engine(windows_of(flat, {1.0, 64.0}, {16.0}, 3));
  REQUIRE(two.terms.size() == 3);
  CHECK(two.terms[0].term == EngineTerm::step);
  CHECK(two.terms[1].term == EngineTerm::host);
  CHECK(two.terms[2].term == EngineTerm::draft_host);
  CHECK(two.terms[2].value == Approx(flat.draft_host).epsilon(1e-6));
  CHECK(two.loads == std::vector<double>{1.0, 64.0});
  CHECK(two.drafting_loads == std::vector<double>{16.0});
  CHECK(fit_engine(windows_of(flat, {1.0, 8.0, 9.0}, {}, 3)).loads == std::vector<double>{1.0, 8.0});
  CHECK_THROWS_MATCHES(fit_engine(windows_of(flat, {8.0, 9.0}, {8.0}, 6)), DomainError,
                       Says("windows without speculation at one load, 8 requests"));
  CHECK_THROWS_MATCHES(fit_engine(windows_of(flat, {}, {8.0, 64.0}, 6)), DomainError,
                       Says("no windows without speculation"));
  CHECK_THROWS_MATCHES(fit_engine(windows_of(flat, {1.0, 64.0}, {8.0}, 1)), DomainError, Says("3 windows for 3 terms"));
  CHECK_THROWS_AS(fit_engine(std::vector<TimedIterations>(9, {.iteration_us = 0.0, .passes_us = 1.0})), DomainError);
}

TEST_CASE("no term is below 0, and a term hidden by noise is 0 with an interval") {
  const KnownTerms none{.step = 1.2, .host = 0.0, .host_request = 0.0, .draft_host = -300.0, .draft_host_request = 0.0};
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const EngineFit fit = fit_engine(windows_of(none, {1.0, 8.0, 32.0, 64.0}, {1.0, 64.0}, 8, 0.03, seed));
    for (const FittedTerm& term : fit.terms) {
      CHECK(term.value >= 0.0);
      CHECK(term.interval.low >= 0.0);
      CHECK(term.interval.low <= term.value);
      CHECK(term.interval.high >= term.value);
    }
  }
}

TEST_CASE("intervals cover the terms of noisy windows") {
  // 300 draws: 95 % +- 1.3 % if the interval were exact; 88 % is five standard errors below.
  const KnownTerms terms;
  int step = 0, host = 0, drafting = 0;
  constexpr int draws = 300;
  for (std::uint32_t seed = 1; seed <= draws; ++seed) {
    const EngineFit fit =
        fit_engine(windows_of({.host_request = 0.0, .draft_host_request = 0.0}, {1.0, 64.0}, {16.0}, 12, 0.03, seed));
    const auto holds = [&](EngineTerm term, double value) {
      const FittedTerm& fitted = term_of(fit, term);
      return fitted.interval.low <= value && value <= fitted.interval.high ? 1 : 0;
    };
    step += holds(EngineTerm::step, terms.step);
    host += holds(EngineTerm::host, terms.host);
    drafting += holds(EngineTerm::draft_host, terms.draft_host);
  }
  CHECK(step >= 0.88 * draws);
  CHECK(host >= 0.88 * draws);
  CHECK(drafting >= 0.88 * draws);
  CHECK(step < draws);
}

}  // namespace foredraft::analytic
