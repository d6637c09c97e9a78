// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foredraft/scenario.hpp"
#include "latency/profile/cell.hpp"

/// How a drafter is named on the command line and in files where times are those of a device.
namespace foredraft::latency {

/// "autoregressive", "block", "heads".
[[nodiscard]] const std::vector<std::string>& drafter_words();

/// Nothing for other words.
[[nodiscard]] std::optional<Role> role_of_drafter(std::string_view word);

/// Throws DomainError for a drafter whose passes nobody times.
[[nodiscard]] Role drafting_role(const Drafter& drafter);

/// Of one of the three drafting roles.
[[nodiscard]] std::string_view drafter_word(Role drafting);

}  // namespace foredraft::latency
