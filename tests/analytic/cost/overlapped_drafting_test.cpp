// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/overlapped_drafting.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::second_route;

double speedup_of(Overlap schedule, double alpha, std::int64_t gamma, double c, bool shared = false) {
  return speedup(OverlappedDrafting{.schedule = schedule, .alpha = alpha, .gamma = gamma, .c = c, .shared = shared});
}

/// DSI: the mean over the accepted drafts of a run, position by position.
double summed_dsi(double alpha, std::int64_t gamma, double c) {
  double tokens = 0.0;
  double time = 0.0;
  double known = 0.0;
  double reached = 1.0;
  for (std::int64_t position = 1; reached > 1e-18; ++position) {
    const auto pass = static_cast<double>((position - 1 + gamma - 1) / gamma);
    known = std::min(known + 1.0, std::max(known, pass * static_cast<double>(gamma) * c + 1.0));
    tokens += reached;
    time += reached * (1.0 - alpha) * known;
    reached *= alpha;
  }
  return tokens / time;
}

/// PEARL: a long-run average over the two kinds of stage.
double iterated_pearl(double alpha, std::int64_t gamma, double stage) {
  double first = 1.0;  // probability that a stage follows a rejection
  double tokens = 0.0;
  for (int i = 0; i < 10'000; ++i) {
    double emitted = 1.0;
    double rest = 0.0;
    for (std::int64_t j = 0; j < gamma; ++j) rest += std::pow(alpha, static_cast<double>(j));
    emitted = first + (1.0 - first) * rest;
    first = first * (1.0 - alpha) + (1.0 - first) * (1.0 - std::pow(alpha, static_cast<double>(gamma)));
    tokens = emitted;
  }
  return tokens / stage;
}

}  // namespace

TEST_CASE("DSI and PEARL equal the sums over their positions and stages") {
  for (const double alpha : {0.0, 0.3, 0.8, 0.95}) {
    for (const std::int64_t gamma : {1, 2, 5, 20}) {
      for (const double c : {0.0, 0.05, 0.3, 1.0}) {
        CAPTURE(alpha, gamma, c);
        CHECK(speedup_of(Overlap::dsi, alpha, gamma, c) == Approx(summed_dsi(alpha, gamma, c)).epsilon(second_route));
        const double drafts = static_cast<double>(gamma) * c;
        CHECK(speedup_of(Overlap::pearl, alpha, gamma, c) ==
              Approx(iterated_pearl(alpha, gamma, std::max(drafts, 1.0))).epsilon(second_route));
        CHECK(speedup_of(Overlap::pearl, alpha, gamma, c, true) ==
              Approx(iterated_pearl(alpha, gamma, drafts + 1.0)).epsilon(second_route));
      }
    }
  }
}

TEST_CASE("overlapped drafting worked by hand, and at the limits of its range") {
  // alpha = 1/2, gamma = 2, c = 1/4. A stage: 1 token; after an accepted draft 1 + 1/2, and on with 1/4. The share of
  // these is .5 / (.5 + .75) = .4.
  CHECK(speedup_of(Overlap::pearl, 0.5, 2, 0.25) == Approx(0.6 + 0.4 * 1.5).epsilon(second_route));
  CHECK(speedup_of(Overlap::none, 0.5, 2, 0.25) == Approx(1.75 / 1.5).epsilon(second_route));
  // Known after 1, 1.5, 1.5, 2, 2, ... steps: 1 + .5 sum of 1/2, 1/8, 1/32, ... of the positions 2, 4, ...
  CHECK(speedup_of(Overlap::dsi, 0.5, 2, 0.25) == Approx(2.0 / (1.0 + 0.5 * 2.0 / 3.0)).epsilon(second_route));

  CHECK(speedup_of(Overlap::pearl, 0.8, 5, 0.1) == Approx(2.2832).epsilon(1e-4));

  CHECK(speedup_of(Overlap::dsi, 0.9, 4, 0.0) == Approx(10.0).epsilon(second_route));  // 1 / (1 - alpha)
  CHECK(speedup_of(Overlap::dsi, 1.0, 4, 0.1) == Approx(10.0).epsilon(second_route));  // 1 / c
  CHECK(speedup_of(Overlap::dsi, 1.0, 4, 0.0) == std::numeric_limits<double>::infinity());
  CHECK(speedup_of(Overlap::dsi, 0.0, 4, 0.7) == 1.0);
  CHECK(speedup_of(Overlap::dsi, 0.6, 4, 1.0) == Approx(1.0).epsilon(second_route));
  CHECK(speedup_of(Overlap::pearl, 1.0, 10, 0.1) == Approx(10.0).epsilon(second_route));
  CHECK(speedup_of(Overlap::pearl, 0.0, 10, 0.1) == Approx(1.0).epsilon(second_route));
}

TEST_CASE("DSI is never slower than speculation, autoregressive decoding or PEARL, nor faster than its limits") {
  for (double alpha = 0.0; alpha <= 1.0; alpha += 1.0 / 32.0) {
    for (const std::int64_t gamma : {1, 2, 3, 5, 8, 16, 64}) {
      for (double c = 1.0 / 32.0; c <= 1.0; c += 1.0 / 32.0) {
        CAPTURE(alpha, gamma, c);
        const double dsi = speedup_of(Overlap::dsi, alpha, gamma, c) * (1.0 + second_route);
        CHECK(dsi >= speedup_of(Overlap::none, alpha, gamma, c));
        CHECK(dsi >= speedup_of(Overlap::pearl, alpha, gamma, c));
        CHECK(dsi >= 1.0);
        // The authors' simulator waits for the chunk of a rejected draft, except for the first of a run.
        const double chunks = 1.0 / (1.0 - std::pow(alpha, static_cast<double>(gamma))) - (1.0 - alpha);
        if (alpha < 1.0) CHECK(dsi * (1.0 - alpha) * (1.0 + static_cast<double>(gamma) * c * chunks) >= 1.0);
        CHECK(dsi <= (1.0 + 4.0 * second_route) / std::max(c, 1.0 - alpha));
        CHECK(speedup_of(Overlap::dsi, alpha, gamma, c, true) == speedup_of(Overlap::none, alpha, gamma, c));
        CHECK(speedup_of(Overlap::pearl, alpha, gamma, c, true) <= speedup_of(Overlap::none, alpha, gamma, c));
      }
    }
  }
}

TEST_CASE("DSI needs as many servers as passes overlap, and values out of range are rejected") {
  const auto servers = [](std::int64_t gamma, double c) {
    return max_target_servers({.schedule = Overlap::dsi, .alpha = 0.5, .gamma = gamma, .c = c});
  };
  CHECK(servers(5, 0.25) == 2.0);
  CHECK(servers(2, 0.125) == 5.0);
  CHECK(std::isinf(servers(2, 0.0)));
  CHECK_THROWS_AS(servers(0, 0.1), DomainError);
  CHECK_THROWS_AS(servers(2, 1.5), DomainError);
  CHECK_THROWS_AS(speedup_of(Overlap::pearl, -0.1, 2, 0.1), DomainError);
}

}  // namespace foredraft::analytic
