// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "latency/profile/profile.hpp"

namespace foredraft::latency {

/// A small profile of a device that does not exist; every time in it is made up.
[[nodiscard]] Profile synthetic_profile();

}  // namespace foredraft::latency
