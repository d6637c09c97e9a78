// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "latency/profile/cell.hpp"

/// How a drafter is named on the command line and in files where times are those of a device.
namespace foredraft::experiments {

/// "autoregressive", "block", "heads".
[[nodiscard]] const std::vector<std::string>& drafter_words();

/// Nothing for other words.
[[nodiscard]] std::optional<latency::Role> role_of_drafter(std::string_view word);

/// The same; throws DomainError for other words.
[[nodiscard]] latency::Role drafting_role(std::string_view word);

/// Of one of the three drafting roles.
[[nodiscard]] std::string_view drafter_word(latency::Role drafting);

}  // namespace foredraft::experiments
