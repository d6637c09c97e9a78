// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "latency/profile/profile.hpp"

namespace foredraft::latency {

/// A small profile of a synthetic device with invented times.
[[nodiscard]] Profile synthetic_profile();

}  // namespace foredraft::latency
