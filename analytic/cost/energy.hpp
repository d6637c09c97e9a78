// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Energy and carbon of a run, and what speculation changes: it draws more power for a shorter time.
namespace foredraft::analytic {

struct PowerUse {
  double power_w;  ///< mean power of the device, >= 0
  double hours_h;  ///< >= 0
  double pue;      ///< power usage effectiveness of the data centre: total over device power, >= 1
};

/// power * hours * PUE, in Wh.
[[nodiscard]] double energy_wh(const PowerUse& use);

/// `intensity_g_per_wh` >= 0 grams of CO2 equivalent for each Wh.
[[nodiscard]] double carbon_g(double energy_wh, double intensity_g_per_wh);

/// Energy with speculation over energy without: power_ratio / speedup, in one data centre. Both > 0. Below 1, so that
/// speculation saves energy, exactly while the power ratio is below the speedup.
[[nodiscard]] double energy_ratio(double power_ratio, double speedup);

}  // namespace foredraft::analytic
