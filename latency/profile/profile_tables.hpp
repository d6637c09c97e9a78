// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "latency/profile/profile.hpp"

/// steps.csv, kernels.csv and verifications.csv: the rows of a profile with what is derived from them, as
/// docs/metrics.md lists them.
namespace foredraft::latency {

[[nodiscard]] std::string steps_csv(const Profile& profile);
[[nodiscard]] std::string kernels_csv(const Profile& profile);
[[nodiscard]] std::string verifications_csv(const Profile& profile);

}  // namespace foredraft::latency
