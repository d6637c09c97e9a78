// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/kernel_share.hpp"

#include <fmt/format.h>
#include <cmath>

#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

void check_gain(std::string_view name, double gain) {
  if (!(std::isfinite(gain) && gain <= 1.0)) {
    throw DomainError(fmt::format("invalid {}={} (must be finite and at most 1)", name, gain));
  }
}

}  // namespace

double kernel_share(const IterationTimes& times) {
  check_nonnegative("drafting", times.drafting);
  check_nonnegative("target", times.target);
  check_nonnegative("kernel", times.kernel);
  const double whole = times.drafting + times.target + times.kernel;
  check_positive("drafting + target + kernel", whole);
  return times.kernel / whole;
}

double wall_gain(double share, double part_gain) {
  check_probability("share", share);
  check_gain("part_gain", part_gain);
  return share * part_gain;
}

double implied_share(double wall_gain, double part_gain) {
  check_gain("wall_gain", wall_gain);
  check_gain("part_gain", part_gain);
  if (part_gain == 0.0) throw DomainError("invalid part_gain=0 (must not be 0: every share gives a wall gain of 0)");
  return wall_gain / part_gain;
}

double total_gain(double call_gain, double call_ratio) {
  check_gain("call_gain", call_gain);
  check_nonnegative("call_ratio", call_ratio);
  // In this order equal numbers of calls give the call's own gain back to the last bit.
  return call_gain + (1.0 - call_ratio) * (1.0 - call_gain);
}

double implied_call_ratio(double total_gain, double call_gain) {
  check_gain("total_gain", total_gain);
  check_gain("call_gain", call_gain);
  if (!(call_gain < 1.0))
    throw DomainError("invalid call_gain=1 (must be below 1: free calls leave their number open)");
  return (1.0 - total_gain) / (1.0 - call_gain);
}

}  // namespace foredraft::analytic
