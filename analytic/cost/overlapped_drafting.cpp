// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/overlapped_drafting.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "analytic/numerics/stable_forms.hpp"
#include "core/check.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::analytic {
namespace {

void check_overlapped(const OverlappedDrafting& drafting) {
  check_probability("alpha", drafting.alpha);
  check_range("gamma", drafting.gamma, 1, 1'000'000);
  check_probability("c", drafting.c);
}

double alternating_speedup(const OverlappedDrafting& drafting) {
  const double tokens = stable::geometric_sum(drafting.alpha, 1.0 - drafting.alpha, drafting.gamma + 1);
  return tokens / (1.0 + static_cast<double>(drafting.gamma) * drafting.c);
}

/// A stage after a rejection emits one token and continues with probability alpha. Any other stage emits a mean of 1 +
/// alpha + ... + alpha^(gamma - 1) tokens and continues with probability alpha^gamma.
double pearl_speedup(const OverlappedDrafting& drafting) {
  const auto& [schedule, alpha, gamma, c, shared] = drafting;
  const double tokens = stable::geometric_sum(alpha, 1.0 - alpha, gamma);
  const double stops = (1.0 - alpha) * tokens;  // 1 - alpha^gamma
  const double going_on = alpha / (alpha + stops);
  const double drafts = static_cast<double>(gamma) * c;
  const double stage = shared ? drafts + 1.0 : std::max(drafts, 1.0);
  return (1.0 - going_on + going_on * tokens) / stage;
}

/// With n = j gamma + r accepted drafts, the token after them is known j gamma c + min(r, gamma c) + 1 decode steps
/// after the token before them: drafting j gamma tokens takes j gamma c, then r tokens become known one by one, or
/// gamma more are drafted, whichever is sooner; the last pass takes 1. Numerator and denominator of the ratio of means
/// are multiplied by 1 - alpha.
double dsi_speedup(const OverlappedDrafting& drafting) {
  const double alpha = drafting.alpha;
  const double drafts = static_cast<double>(drafting.gamma) * drafting.c;
  CompensatedSum rest;  // sum_r min(r, gamma c) alpha^r
  double power = 1.0;
  for (std::int64_t r = 0; r < drafting.gamma; ++r, power *= alpha) {
    rest.add(std::min(static_cast<double>(r), drafts) * power);
  }
  const double total = stable::geometric_sum(alpha, 1.0 - alpha, drafting.gamma);
  return 1.0 / (1.0 - alpha + (drafts * power + (1.0 - alpha) * rest.value()) / total);
}

}  // namespace

double speedup(const OverlappedDrafting& drafting) {
  check_overlapped(drafting);
  switch (drafting.schedule) {
    case Overlap::none:
      return alternating_speedup(drafting);
    case Overlap::pearl:
      return pearl_speedup(drafting);
    case Overlap::dsi:
      return drafting.shared ? alternating_speedup(drafting) : dsi_speedup(drafting);
  }
  throw std::logic_error("unknown schedule");
}

double max_target_servers(const OverlappedDrafting& drafting) {
  check_overlapped(drafting);
  return std::ceil(1.0 / (static_cast<double>(drafting.gamma) * drafting.c)) + 1.0;
}

}  // namespace foredraft::analytic
