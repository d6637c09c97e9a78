// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/varying_gamma.hpp"

#include <limits>
#include <stdexcept>

#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

void check(const VaryingYield& yield) {
  check_positive("tokens", yield.tokens);
  check_nonnegative("mean_gamma", yield.mean_gamma);
}

}  // namespace

double mean_draft_passes(const VaryingYield& yield, Drafting drafting) {
  check(yield);
  switch (drafting) {
    case Drafting::autoregressive:
      return yield.mean_gamma;
    case Drafting::block:
      return 1.0;
    case Drafting::free:
      return 0.0;
  }
  throw std::logic_error("unknown drafting cost");
}

double operations_factor(const VaryingYield& yield, double operations_ratio, Convention convention) {
  check(yield);
  check_nonnegative("operations_ratio", operations_ratio);
  const double verified = yield.mean_gamma + (convention == Convention::bonus ? 1.0 : 0.0);
  return (yield.mean_gamma * operations_ratio + verified) / yield.tokens;
}

double accepted_over_drafted(const VaryingYield& yield) {
  check(yield);
  if (yield.mean_gamma == 0.0) return std::numeric_limits<double>::quiet_NaN();
  return (yield.tokens - 1.0) / yield.mean_gamma;
}

}  // namespace foredraft::analytic
