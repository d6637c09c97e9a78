// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/energy.hpp"

#include <fmt/format.h>
#include <cmath>

#include "core/check.hpp"

namespace foredraft::analytic {

double energy_wh(const PowerUse& use) {
  check_nonnegative("power_w", use.power_w);
  check_nonnegative("hours_h", use.hours_h);
  if (!(use.pue >= 1.0 && std::isfinite(use.pue))) {
    throw DomainError(fmt::format("invalid pue={} (must be finite and at least 1)", use.pue));
  }
  return use.power_w * use.hours_h * use.pue;
}

double carbon_g(double energy_wh, double intensity_g_per_wh) {
  check_nonnegative("energy_wh", energy_wh);
  check_nonnegative("intensity_g_per_wh", intensity_g_per_wh);
  return energy_wh * intensity_g_per_wh;
}

double energy_ratio(double power_ratio, double speedup) {
  check_positive("power_ratio", power_ratio);
  check_positive("speedup", speedup);
  return power_ratio / speedup;
}

}  // namespace foredraft::analytic
