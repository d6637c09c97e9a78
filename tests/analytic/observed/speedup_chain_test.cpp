// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/iteration_times.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "foredraft/errors.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;

/// 2.4 tokens; plain: 10 ms per token, of which the forward pass 9; an iteration 16 ms: drafts 3, verification 12, 1
/// else.
ChainTimes all_known() {
  return {.tokens = {2.4, 0.012},
          .plain_token = {10.0, 0.1},
          .iteration = {16.0, 0.08},
          .drafting = Estimate{3.0, 0.03},
          .verification = Estimate{12.0, 0.06},
          .decode_step = Estimate{9.0, 0.09}};
}

double product_of(const SpeedupChain& chain) {
  double product = chain.promised;
  for (const ChainLink& link : chain.links) product *= link.value;
  return product;
}

}  // namespace

TEST_CASE("if all times are known the speedup is split into its four factors") {
  const SpeedupChain chain = speedup_chain(all_known());
  REQUIRE(chain.links.size() == 4);
  CHECK(chain.links[0].factor == ChainFactor::verification);
  CHECK(chain.links[0].value == 9.0 / 12.0);
  CHECK(chain.links[1].factor == ChainFactor::drafting);
  CHECK(chain.links[1].value == 12.0 / 15.0);
  CHECK(chain.links[2].factor == ChainFactor::engine_overhead);
  CHECK(chain.links[2].value == 15.0 / 16.0);
  CHECK(chain.links[3].factor == ChainFactor::plain_overhead);
  CHECK(chain.links[3].value == 10.0 / 9.0);
  CHECK(chain.speedup.mean == 1.5);
  CHECK(chain.causes == std::vector{ChainFactor::verification});
  CHECK_FALSE(chain.overlapped);
}

TEST_CASE("for any known times the product is the measured speedup and the shares add up to one") {
  for (unsigned known = 0; known < 8; ++known) {
    ChainTimes times = all_known();
    if ((known & 1U) == 0) times.drafting.reset();
    if ((known & 2U) == 0) times.verification.reset();
    if ((known & 4U) == 0) times.decode_step.reset();
    CAPTURE(known);
    const SpeedupChain chain = speedup_chain(times);
    CHECK(std::abs(product_of(chain) - 1.5) <= few_ulp);
    double shares = 0.0;
    for (const ChainLink& link : chain.links) shares += link.share;
    CHECK(std::abs(shares - 1.0) <= few_ulp);
    CHECK((chain.links.back().factor == ChainFactor::iteration_cost) == (known != 7));
  }
}

TEST_CASE("factors that the times cannot separate are one factor") {
  ChainTimes times = all_known();
  times.drafting.reset();
  times.verification.reset();
  times.decode_step.reset();
  const SpeedupChain chain = speedup_chain(times);
  REQUIRE(chain.links.size() == 1);
  CHECK(chain.links[0].value == 10.0 / 16.0);
  CHECK(chain.links[0].share == 1.0);
  CHECK(chain.links[0].standard_error == Approx(0.625 * std::hypot(0.01, 0.005)).epsilon(few_ulp));
  CHECK(chain.causes == std::vector{ChainFactor::iteration_cost});
}

TEST_CASE("the standard error of the speedup is that of its three parts") {
  CHECK(speedup_chain(all_known()).speedup.standard_error ==
        Approx(1.5 * std::hypot(0.005, 0.01, 0.005)).epsilon(few_ulp));
}

TEST_CASE("the standard error of a factor counts a time in both numerator and denominator once") {
  // V / (V + D): V and D change it only by the share of drafting, 0.2.
  const SpeedupChain chain = speedup_chain(all_known());
  CHECK(chain.links[1].standard_error == Approx(0.8 * 0.2 * std::hypot(0.01, 0.005)).epsilon(few_ulp));
  // (V + D) / T_s: 0.2 of the drafts' error, 0.8 of verification's.
  CHECK(chain.links[2].standard_error ==
        Approx(15.0 / 16.0 * std::hypot(0.2 * 0.01, 0.8 * 0.005, 0.005)).epsilon(few_ulp));
}

TEST_CASE("factors that noise does not distinguish are both the cause") {
  ChainTimes times = all_known();
  times.verification = Estimate{11.4, 0.1};
  times.drafting = Estimate{3.0, 0.05};
  times.decode_step = Estimate{9.0, 0.1};
  CHECK(speedup_chain(times).causes == std::vector{ChainFactor::verification, ChainFactor::drafting});
  times.verification->standard_error = 0.0;
  times.drafting->standard_error = 0.0;
  times.decode_step->standard_error = 0.0;
  CHECK(speedup_chain(times).causes.size() == 1);
}

TEST_CASE("limits of the chain: free drafting, overlap, nothing lost") {
  ChainTimes times = all_known();
  times.drafting = Estimate{0.0, 0.0};
  CHECK(speedup_chain(times).links[1].value == 1.0);
  times.drafting = Estimate{5.0, 0.0};
  CHECK(speedup_chain(times).overlapped);
  CHECK(speedup_chain(times).links[2].value > 1.0);
  const SpeedupChain free = speedup_chain({.tokens = {3.0, 0.0}, .plain_token = {5.0, 0.0}, .iteration = {5.0, 0.0}});
  CHECK(free.speedup.mean == 3.0);
  CHECK(std::isnan(free.links[0].share));
  CHECK(free.causes.empty());
}

TEST_CASE("a chain of impossible times is rejected") {
  ChainTimes times = all_known();
  times.tokens.mean = 0.9;
  CHECK_THROWS_AS(speedup_chain(times), DomainError);
  times = all_known();
  times.iteration.mean = 0.0;
  CHECK_THROWS_AS(speedup_chain(times), DomainError);
  times = all_known();
  times.verification->mean = std::nan("");
  CHECK_THROWS_AS(speedup_chain(times), DomainError);
  times = all_known();
  times.decode_step->mean = 0.0;
  CHECK_THROWS_MATCHES(speedup_chain(times), DomainError, Says("decode_step=0"));
  times = all_known();
  times.drafting->standard_error = -1.0;
  CHECK_THROWS_AS(speedup_chain(times), DomainError);
}

}  // namespace foredraft::analytic
